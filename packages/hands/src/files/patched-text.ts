import { Fault } from "@vidro/core";
import { sha256, decodeText } from "./files.ts";
import type { FileContent } from "./files.ts";
import { applyHunks, applyMovedHunks, createDiff, revertHunks } from "./patch.ts";
import type { Patch } from "./patch.ts";

/** A file's text as it is now. */
interface CurrentFile {
  readonly text: string;
  readonly sha256: string;
}

/** A patch to apply: the base that it was made for, if one was given, and the file's name for people. */
interface PatchUse {
  readonly patch: Patch;
  readonly base: string | undefined;
  readonly path: string;
  readonly name: string;
}

/** The text of a file after a patch, which is the text as it is if the patch is applied already; throws CONFLICT. */
export async function patchText(content: FileContent | undefined, use: PatchUse): Promise<string> {
  const { patch, base, path, name } = use;
  const now = {
    text: content === undefined ? "" : decodeText(content, path),
    sha256: content?.sha256 ?? sha256(""),
  };
  const result = decideResult(now, patch, base);
  if (result !== undefined) return result;
  const isUndecided = base === undefined && applyHunks(now.text, patch.hunks) !== undefined;
  throw isUndecided ? undecidedFault(now, name) : await conflictFault(now, patch, name);
}

/** The text after the patch, or the current text if the patch is applied already; undefined if neither fits. */
function decideResult(
  { text, sha256: current }: CurrentFile,
  { hunks }: Patch,
  base: string | undefined,
): string | undefined {
  const next = applyHunks(text, hunks);
  if (base === current) return next;
  const previous = revertHunks(text, hunks);
  if (base !== undefined) return previous !== undefined && sha256(previous) === base ? text : undefined;
  // The lines that the patch makes are not all there: it is not applied.
  if (previous === undefined) return next;
  // A file that is exactly what a patch for an empty file makes of it has the patch.
  if (previous === "") return text;
  // A pure deletion leaves no trace in the text: it is applied where it fits, unless it would fit a second time.
  if (text !== "" && hunks.some(({ after }) => after.length === 0))
    return next !== undefined && applyHunks(next, hunks) === undefined ? next : undefined;
  // Without a base the text must show whether the patch is applied; if it fits both ways, that cannot be decided.
  return next === undefined ? text : undefined;
}

/** A CONFLICT for a patch that fits, and whose result may be there already; with the base that has it applied. */
function undecidedFault({ sha256: base_sha256 }: CurrentFile, name: string): Fault {
  const message =
    `The patch fits ${name}, but the file may be what the patch makes already, and nothing in it shows which. ` +
    `To apply it to the file as it is, give base_sha256 ${base_sha256}; if the change is there, nothing is to be done.`;
  return new Fault("CONFLICT", message, { detail: { base_sha256, patch: "" } });
}

/** A CONFLICT with the current hash, and a patch rebased onto the current text if its lines still occur there. */
async function conflictFault(now: CurrentFile, patch: Patch, name: string): Promise<Fault> {
  const moved = await applyMovedHunks(now.text, patch);
  const fresh = moved === undefined ? "" : await createDiff(name.replace(/^\//, ""), now.text, moved);
  const way =
    fresh === ""
      ? "read the file and make a new patch"
      : `this is the same change made for the file as it is now:\n${fresh}`;
  return new Fault("CONFLICT", `The patch does not fit ${name}, whose base_sha256 is ${now.sha256}; ${way}`, {
    detail: { base_sha256: now.sha256, patch: fresh },
  });
}
