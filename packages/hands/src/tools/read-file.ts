import { basename } from "node:path";
import { inflateSync } from "node:zlib";
import { Fault, FILE_LIMITS, HAND_LIMITS, imageFormat, imageMisfit, isPdf } from "@vidro/core";
import type { FilePlan, ImageFormat, JsonObject, ValueOutcome } from "@vidro/core";
import { decodeText } from "../files/files.ts";
import type { FileContent } from "../files/files.ts";
import { pathSchema, readPlan, refuseForeign } from "../files/paths.ts";
import { readPlanned } from "../files/planned-files.ts";
import { defineTool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["file_path"],
  properties: {
    file_path: pathSchema("The file: absolute, or relative to the workspace."),
    offset: { type: "integer", minimum: 1, description: "The first line to give; lines count from 1." },
    limit: { type: "integer", minimum: 1, description: "How many lines to give at most." },
  },
  additionalProperties: false,
} as const;

/** Gives a text file, or some lines of it. */
export const readFileTool = defineTool({
  name: "read_file",
  description:
    "Reads a text file, from line `offset` on and at most `limit` lines. A long file is cut and says how to go on. " +
    "An image (PNG, JPEG, GIF, WebP) is shown to you if you can see images. " +
    "Of a PDF you get the text, page by page; lines count in that text.",
  parameters,
  idempotent: true,
  effect: "read",
  plan: async (input, context): Promise<FilePlan> => await readPlan(input.file_path, context),
  async run(input, execution) {
    const { plan, context } = execution;
    const content = await readPlanned(plan, execution);
    refuseForeign(content.stat, plan, context);
    const image = imageFormat(content.bytes);
    if (image !== undefined) return shownImage(image, content, plan.path);
    const pdf = isPdf(content.bytes) ? await textOfPdf(content.bytes, plan.path) : undefined;
    const lines = (pdf?.text ?? decodeText(content, plan.path)).split("\n");
    if (lines.at(-1) === "") lines.pop();
    const from = input.offset ?? 1;
    if (from > Math.max(lines.length, 1)) {
      throw new Fault("TOOL_FAILED", `${plan.path} has ${lines.length} lines, so there is no line ${from}.`);
    }
    const part = cutLines(lines, from, input.limit ?? lines.length);
    const truncated = part.note !== "";
    const { bytes, sha256 } = content;
    const data = { path: plan.path, lines: lines.length, bytes: bytes.length, sha256, truncated, ...pdf?.facts };
    return { kind: "value", text: part.text + part.note, data };
  },
});

/** An image for a model that takes images; throws TOOL_FAILED when it is too large for one. */
function shownImage(image: ImageFormat, { bytes, sha256 }: FileContent, path: string): ValueOutcome {
  const { mediaType, width, height } = image;
  const misfit = imageMisfit(image, bytes.length);
  if (misfit !== undefined) throw new Fault("TOOL_FAILED", `${path} is an image that cannot be shown: ${misfit}.`);
  const data = { path, media_type: mediaType, width, height, bytes: bytes.length, sha256 };
  const name = basename(path).slice(-FILE_LIMITS.nameChars);
  return {
    kind: "value",
    text: `${path} is an image: ${mediaType}, ${width} × ${height} pixels, ${bytes.length} bytes.`,
    data,
    files: [{ mediaType, data: bytes.toString("base64"), name }],
  };
}

/** The text of a PDF, and facts on it; throws TOOL_FAILED when it has none that can be read. */
async function textOfPdf(bytes: Buffer, path: string): Promise<{ text: string; facts: JsonObject }> {
  const { pdfText } = await import("@vidro/core/pdf");
  const read = pdfText(bytes, inflateSync);
  if ("misfit" in read) throw new Fault("TOOL_FAILED", `${path} is a PDF whose text cannot be had: ${read.misfit}.`);
  return { text: read.text, facts: { media_type: "application/pdf", pages: read.pages } };
}

/** The lines from `from` on that fit the bounds, and a note on what is left out. */
function cutLines(lines: readonly string[], from: number, limit: number): { text: string; note: string } {
  const asked = lines.slice(from - 1, from - 1 + limit);
  let bytes = 0;
  const beyond = asked.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > HAND_LIMITS.readBytes);
  const first = asked[0];
  if (beyond === 0 && first !== undefined) {
    const text = Buffer.from(first)
      .subarray(0, HAND_LIMITS.readBytes)
      .toString()
      .replace(/\uFFFD+$/, "");
    const note = `only the beginning of line ${from} of ${lines.length} is shown: it has ${Buffer.byteLength(first)} bytes`;
    return { text, note: `\n[${note}; the next line is offset ${from + 1}]` };
  }
  const given = beyond === -1 ? asked : asked.slice(0, beyond);
  const last = from - 1 + given.length;
  const note =
    last < lines.length ? `\n[lines ${from} to ${last} of ${lines.length}; go on with offset ${last + 1}]` : "";
  return { text: given.join("\n"), note };
}
