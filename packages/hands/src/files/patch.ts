import { Fault, HAND_LIMITS } from "@vidro/core";
import type { StructuredPatch } from "diff";
import { linesOf, readPatchText, refusedFault } from "./patch-text.ts";

/** A hunk of a patch: lines with their line ends, and their positions, before and after. */
interface Hunk {
  readonly beforeAt: number;
  readonly before: readonly string[];
  readonly afterAt: number;
  readonly after: readonly string[];
  /** Whether the hunk must end at the end of the file: it has context before its change and none after. */
  readonly isLast: boolean;
}

/** A parsed and checked patch of one file. */
export interface Patch {
  readonly hunks: readonly Hunk[];
  readonly parsed: StructuredPatch;
}

/** Loaded with the first patch, to keep the start of a hand fast. */
const loadDiff = () => import("diff");

/** The unified diff between two texts; empty if they are equal. */
export async function createDiff(name: string, before: string, after: string): Promise<string> {
  if (before === after) return "";
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await loadDiff();
  const patch = createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
    maxEditLength: HAND_LIMITS.diffLines,
  });
  if (patch !== undefined && Buffer.byteLength(patch) <= HAND_LIMITS.patchBytes) return patch;
  throw new Fault(
    "PAYLOAD_TOO_LARGE",
    `The texts of ${name} differ too much for a patch; write the whole file instead.`,
  );
}

/** The part of a patch that is about one file. */
export interface NamedPatch extends Patch {
  /** The file as the patch calls it, without the customary a/ and b/. */
  readonly path: string;
  readonly isRemoval: boolean;
}

/** Parses a patch of several files; refuses renames, copies, modes, binary changes, and a file that is named twice. */
export async function readPatches(text: string): Promise<readonly NamedPatch[]> {
  const patches = (await parseAll(text)).map((parsed): NamedPatch => {
    const { oldFileName: from = "/dev/null", newFileName: to = "/dev/null" } = parsed;
    const [before, after] = [bareName(from, "a/"), bareName(to, "b/")];
    const path = after ?? before;
    if (path === undefined) throw refusedFault("a part of it names no file in a --- and a +++ line");
    if (before !== undefined && after !== undefined && before !== after)
      throw refusedFault(`it renames ${before} to ${after}; use a command for that`);
    const isRemoval = after === undefined;
    return { path, isRemoval, ...readHunks(withoutModes(parsed, { isNew: before === undefined, isRemoval })) };
  });
  if (patches.length > HAND_LIMITS.patchFiles)
    throw refusedFault(`it is about more than ${HAND_LIMITS.patchFiles} files`);
  const twice = patches.find(({ path }, index) => patches.slice(0, index).some((other) => other.path === path));
  if (twice !== undefined) throw refusedFault(`it names ${twice.path} twice`);
  return patches;
}

/** The part of a patch without the modes of a plain file that it makes or removes; other modes are refused with it. */
function withoutModes(parsed: StructuredPatch, { isNew, isRemoval }: { isNew: boolean; isRemoval: boolean }) {
  const { oldMode, newMode, isDelete: _, ...plain } = parsed;
  const isPlain = (isRemoval || oldMode === undefined) && (newMode === undefined || (isNew && newMode === "100644"));
  return isPlain ? plain : parsed.oldMode === undefined ? { ...parsed, oldMode: newMode ?? "" } : parsed;
}

/** A header's file without the customary prefix; undefined for the empty file. */
function bareName(header: string, prefix: string): string | undefined {
  if (header === "/dev/null") return undefined;
  return header.startsWith(prefix) ? header.slice(prefix.length) : header;
}

/** Parses a patch; refuses one that changes more than the content of the one file called by `names`. */
export async function readPatch(text: string, names: readonly string[]): Promise<Patch> {
  const [parsed, ...others] = await parseAll(text);
  if (parsed === undefined || others.length > 0) throw refusedFault("it is not about exactly one file");
  for (const header of [parsed.oldFileName, parsed.newFileName, parsed.index]) {
    const isNew = header === "/dev/null" && header === parsed.oldFileName && header !== parsed.newFileName;
    if (header !== undefined && !isNew && !isName(header, names)) {
      throw refusedFault(`it names ${header}, and only ${names[0]} may be changed`);
    }
  }
  return readHunks(parsed);
}

/** The hunks of one file; refuses more than a change of lines. */
function readHunks(parsed: StructuredPatch): Patch {
  if (parsed.isRename || parsed.isCopy || parsed.isDelete || parsed.isBinary || parsed.oldMode !== undefined) {
    throw refusedFault("it does more than change lines (a rename, copy, deletion, mode or binary change)");
  }
  if (parsed.hunks.length === 0) throw refusedFault('it has no hunk, which begins with a line like "@@ -1,3 +1,4 "');
  let shift = 0;
  const isNew = parsed.oldFileName === "/dev/null";
  const hunks = parsed.hunks.map((hunk) => {
    const read = readHunk(hunk, shift);
    shift += read.after.length - read.before.length;
    // A new file has no other lines.
    return isNew ? { ...read, isLast: true } : read;
  });
  return { parsed, hunks };
}

/**
 * The text with each hunk applied exactly where it says; undefined if it does not fit. As with `git apply`, a hunk with
 * context before its change and none after fits only at the end of the text. A patch with LF line ends fits a text
 * whose line ends are all CRLF, and keeps them.
 */
export function applyHunks(text: string, hunks: readonly Hunk[]): string | undefined {
  const lines = linesOf(text);
  const exact = placeHunks(lines, hunks);
  if (exact !== undefined || !isCrlf(text)) return exact;
  const isPlain = hunks.every(({ before, after }) => [...before, ...after].every((line) => !line.endsWith("\r\n")));
  return isPlain ? placeHunks(lines, hunks.map(toCrlf)) : undefined;
}

/** The text before the patch; undefined if the text is not the result of the patch. */
export function revertHunks(text: string, hunks: readonly Hunk[]): string | undefined {
  const back = hunks.map(({ before, beforeAt, after, afterAt, isLast }) => ({
    before: after,
    beforeAt: afterAt,
    after: before,
    afterAt: beforeAt,
    isLast,
  }));
  return applyHunks(text, back);
}

/** The text with the hunks applied where their lines occur now; undefined if they do not occur. */
export async function applyMovedHunks(text: string, { parsed, hunks }: Patch): Promise<string | undefined> {
  // A hunk without old lines fits everywhere, so it cannot be located; and a position beyond the file's size would only
  // make the search long.
  if (hunks.some(({ before, beforeAt }) => before.length === 0 || beforeAt > HAND_LIMITS.fileBytes)) return undefined;
  const { applyPatch } = await loadDiff();
  let compares = 0;
  const compareLine = (_number: number, line: string, ...[, wanted]: [operation: string, wanted: string]) => {
    compares += 1;
    if (compares > HAND_LIMITS.patchCompares) throw new Fault("PAYLOAD_TOO_LARGE", "The patch is too costly to place.");
    return line === wanted;
  };
  try {
    const result = applyPatch(text, parsed, { fuzzFactor: 0, compareLine });
    return result === false ? undefined : result;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** Whether every line of a text, except perhaps the last, ends in CRLF. */
export function isCrlf(text: string): boolean {
  return text.includes("\r\n") && !/(?<!\r)\n/.test(text);
}

async function parseAll(text: string): Promise<readonly StructuredPatch[]> {
  if (Buffer.byteLength(text) > HAND_LIMITS.patchBytes) {
    throw new Fault(
      "PAYLOAD_TOO_LARGE",
      `The patch has more than ${HAND_LIMITS.patchBytes} bytes; write the whole file instead.`,
    );
  }
  const { parsePatch } = await loadDiff();
  try {
    return parsePatch(readPatchText(text));
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw refusedFault(error instanceof Error ? error.message : String(error), error);
  }
}

/** Whether a header names the file, with or without the customary a/ and b/. */
function isName(header: string, names: readonly string[]): boolean {
  const bare = /^[ab]\//.test(header) ? header.slice(2) : header;
  return names.includes(header) || names.includes(bare) || (bare !== header && names.includes(`/${bare}`));
}

/** Reads a hunk; `shift` is the number of lines that earlier hunks add, and overrules the position in its header. */
function readHunk(hunk: StructuredPatch["hunks"][number], shift: number): Hunk {
  if (!Number.isSafeInteger(hunk.oldStart) || !Number.isSafeInteger(hunk.newStart)) {
    throw refusedFault('a hunk does not begin with a line like "@@ -1,3 +1,4 "');
  }
  const before: string[] = [];
  const after: string[] = [];
  for (const [index, line] of hunk.lines.entries()) {
    if (line.startsWith("\\")) continue;
    const end = hunk.lines[index + 1]?.startsWith("\\") ? "" : "\n";
    if (!line.startsWith("+")) before.push(line.slice(1) + end);
    if (!line.startsWith("-")) after.push(line.slice(1) + end);
  }
  const lines = hunk.lines.filter((line) => !line.startsWith("\\"));
  const isKept = (line: string | undefined): boolean => line !== undefined && !/^[-+]/.test(line);
  const isLast = isKept(lines[0]) && !isKept(lines.at(-1));
  const beforeAt = hunk.oldStart - 1;
  return { beforeAt, before, afterAt: beforeAt + shift, after, isLast };
}

function placeHunks(lines: readonly string[], hunks: readonly Hunk[]): string | undefined {
  const pieces: string[] = [];
  let at = 0;
  let isFirst = true;
  for (const { beforeAt, before, after, isLast } of hunks) {
    if (beforeAt < at || beforeAt > lines.length) return undefined;
    // Two hunks that add at one place are one change said twice, or two of which nothing says which comes first.
    if (!isFirst && beforeAt === at && before.length === 0) return undefined;
    isFirst = false;
    if (isLast && beforeAt + before.length !== lines.length) return undefined;
    if (!before.every((line, index) => lines[beforeAt + index] === line)) return undefined;
    for (const line of lines.slice(at, beforeAt)) pieces.push(line);
    for (const line of after) pieces.push(line);
    at = beforeAt + before.length;
  }
  for (const line of lines.slice(at)) pieces.push(line);
  // Only the last line may lack a line end, or it would run into the next one.
  return pieces.slice(0, -1).every((line) => line.endsWith("\n")) ? pieces.join("") : undefined;
}

function toCrlf(hunk: Hunk): Hunk {
  return { ...hunk, before: hunk.before.map(endInCrlf), after: hunk.after.map(endInCrlf) };
}

function endInCrlf(line: string): string {
  return line.replace(/\n$/, "\r\n");
}
