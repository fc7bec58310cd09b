import { basename } from "node:path";
import { inflateSync } from "node:zlib";
import { Fault, FILE_LIMITS, HAND_LIMITS, imageFormat, imageMisfit, isPdf, PDF_TYPE, pdfMisfit } from "@vidro/core";
import type { FilePart, FilePlan, ImageFormat, JsonObject, ValueOutcome } from "@vidro/core";
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
    "Of a PDF you get the text, page by page, or the file itself if you can see PDFs and read it whole; lines count in the text.",
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
    const isWhole = input.offset === undefined && input.limit === undefined;
    const pdf = isPdf(content.bytes) ? await readPdf(content.bytes, plan.path, isWhole) : undefined;
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
    // The file is shown in the place of its text: of a part that would be more than was asked for.
    const files = pdf?.file === undefined || truncated ? {} : { files: [pdf.file] };
    return { kind: "value", text: part.text + part.note, data, ...files };
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

/** A PDF: its text, facts on it, and the file for models that take PDFs. */
interface ReadPdf {
  readonly text: string;
  readonly facts: JsonObject;
  readonly file?: FilePart;
}

/** Reads a PDF; throws TOOL_FAILED when it has no text, unless its pages can be looked at whole. */
async function readPdf(bytes: Buffer, path: string, isWhole: boolean): Promise<ReadPdf> {
  const { pdfText } = await import("@vidro/core/pdf");
  const read = pdfText(bytes, inflateSync);
  const { pages } = read;
  const isShown = isWhole && pages !== undefined && pdfMisfit(pages, bytes.length) === undefined;
  if ("misfit" in read && !isShown)
    throw new Fault("TOOL_FAILED", `${path} is a PDF whose text cannot be had: ${read.misfit}.`);
  const text = "misfit" in read ? `${path} is a PDF whose text cannot be had: ${read.misfit}.` : read.text;
  const facts = { media_type: PDF_TYPE, pages: pages ?? 0 };
  const name = basename(path).slice(-FILE_LIMITS.nameChars);
  return { text, facts, ...(isShown ? { file: { mediaType: PDF_TYPE, data: bytes.toString("base64"), name } } : {}) };
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
