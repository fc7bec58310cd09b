import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { changeFiles } from "../files/change-files.ts";
import { sha256, decodeText } from "../files/files.ts";
import { isCrlf } from "../files/patch.ts";
import { pathSchema, writePlan } from "../files/paths.ts";
import { readPlanned } from "../files/planned-files.ts";
import { defineTool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["file_path", "old_string", "new_string"],
  properties: {
    file_path: pathSchema("The file: absolute, or relative to the workspace."),
    old_string: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.fileBytes,
      description:
        "The exact text to replace, with its white space. It occurs once in the file, unless replace_all is set.",
    },
    new_string: { type: "string", maxLength: HAND_LIMITS.fileBytes, description: "The text to put in its place." },
    replace_all: { type: "boolean", description: "Replace every occurrence." },
  },
  additionalProperties: false,
} as const;

/** Replaces one exact piece of a file. */
export const editTool = defineTool({
  name: "edit",
  description:
    "Replaces an exact piece of text in a file. Read the file first and copy the piece with its white space.",
  parameters,
  idempotent: false,
  effect: "write",
  async plan(input, context): Promise<FilePlan> {
    if (input.old_string === input.new_string) {
      throw new Fault("BAD_ARGUMENTS", "old_string and new_string are the same, so there is nothing to do.");
    }
    const { old_string, new_string, replace_all = false } = input;
    return await writePlan(input.file_path, { old_string, new_string, replace_all }, context);
  },
  async run(input, execution) {
    const { plan } = execution;
    const content = await readPlanned(plan, execution);
    const text = decodeText(content, plan.path);
    const [from, to] = matchLineEnds(text, [input.old_string, input.new_string]);
    const pieces = text.split(from);
    const count = pieces.length - 1;
    if (count === 0) throw absentFault(text, from, plan.path);
    if (count > 1 && input.replace_all !== true) throw ambiguousFault(pieces, plan.path);
    const edited = pieces.join(to);
    await changeFiles([{ plan, before: content, after: Buffer.from(edited) }], execution);
    const data = { path: plan.path, replacements: count, bytes: Buffer.byteLength(edited), sha256: sha256(edited) };
    return { kind: "value", text: `Replaced ${count} ${count === 1 ? "place" : "places"} in ${plan.path}.`, data };
  },
});

/** Models write LF; in a file whose line ends are all CRLF, they are converted. */
function matchLineEnds(text: string, [from, to]: [string, string]): [string, string] {
  if (!isCrlf(text) || from.includes("\r") || to.includes("\r")) return [from, to];
  return [from.replaceAll("\n", "\r\n"), to.replaceAll("\n", "\r\n")];
}

function ambiguousFault(pieces: readonly string[], path: string): Fault {
  const count = pieces.length - 1;
  const lines: number[] = [];
  let line = 1;
  const lengths = 5;
  for (const piece of pieces.slice(0, lengths)) {
    line += piece.split("\n").length - 1;
    lines.push(line);
  }
  const where = `at lines ${lines.slice(0, count).join(", ")}${count > lengths ? ", …" : ""}`;
  const hint = "make old_string longer so that it is the only one, or set replace_all";
  return new Fault("TOOL_FAILED", `old_string occurs ${count} times in ${path}, ${where}; ${hint}.`);
}

function absentFault(text: string, wanted: string, path: string): Fault {
  const near = nearestLine(text.split("\n"), wanted);
  const hint =
    near === undefined ? "Read the file again" : `The nearest is line ${near.number}: ${JSON.stringify(near.line)}`;
  return new Fault(
    "TOOL_FAILED",
    `old_string does not occur in ${path}. ${hint}; copy it exactly, with its white space.`,
  );
}

/** The line most similar to the first line of the wanted text, if at least half of their letter pairs agree. */
function nearestLine(lines: readonly string[], wanted: string): { number: number; line: string } | undefined {
  const goal = pairsOf(wanted.split("\n").find((line) => line.trim() !== "") ?? "");
  let best = { score: 0.5, number: 0, line: "" };
  for (const [index, line] of lines.slice(0, HAND_LIMITS.diffLines).entries()) {
    const pairs = pairsOf(line);
    const score =
      (2 *
        goal
          .values()
          .filter((pair) => pairs.has(pair))
          .toArray().length) /
      (pairs.size + goal.size);
    if (score > best.score) best = { score, number: index + 1, line: line.slice(0, HAND_LIMITS.lineChars) };
  }
  return best.number === 0 ? undefined : best;
}

function pairsOf(line: string): Set<string> {
  const chars = line.trim().slice(0, HAND_LIMITS.lineChars);
  return new Set(Array.from({ length: chars.length }, (_, index) => chars.slice(index, index + 2)));
}
