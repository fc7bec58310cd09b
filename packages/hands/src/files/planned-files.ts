import { isUtf8 } from "node:buffer";
import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import {
  isBinary,
  missingFault,
  readContentIfAny,
  removeContent,
  requireWritable,
  sha256,
  tooLargeFault,
  writeContent,
} from "./files.ts";
import type { FileContent } from "./files.ts";

/*
 * The files that plans name: on disk, or in the editor that has the workspace open. An editor has text alone, so what is
 * no text, what lies outside of the workspace and every removal stays with the disk. The checks of a path are those of
 * the disk in both cases.
 */

/** What an editor answered: it did it, it said no, or nothing came and it may have done it. */
export type EditorAnswer =
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "silent"; readonly why: string };

/** The editor that has a workspace open; it answers within its own time and never throws. */
export interface FileEditor {
  /** The text of a file as the editor has it, with what is not saved yet. */
  read(path: string, signal?: AbortSignal): Promise<EditorAnswer>;
  /** Replaces the text of a file; the answer has no text. Absent for an editor that only lets its texts be read. */
  write?(path: string, text: string, signal?: AbortSignal): Promise<EditorAnswer>;
}

/** Whose files are meant, and what ends the waiting for them. */
export interface FileAccess {
  readonly context: { readonly editor?: FileEditor | undefined };
  readonly signal?: AbortSignal;
}

/** A file before a change: as it was read, "unread" if it is replaced whatever it holds; absent if there was none. */
export type FormerContent = FileContent | "unread" | undefined;

/** Reads the file of a plan. */
export async function readPlanned(plan: FilePlan, access: FileAccess): Promise<FileContent> {
  const content = await readPlannedIfAny(plan, access);
  if (content === undefined) throw missingFault(plan.path);
  return content;
}

/** Reads the file of a plan; undefined if there is none. */
export async function readPlannedIfAny(
  { path, inWorkspace }: FilePlan,
  { context: { editor }, signal }: FileAccess,
): Promise<FileContent | undefined> {
  const kept = await readContentIfAny(path);
  if (editor === undefined || !inWorkspace || (kept !== undefined && !isText(kept.bytes))) return kept;
  const answer = await editor.read(path, signal);
  if (answer.kind === "done") return contentOf(answer.text, path, kept);
  // An editor refuses to read what it does not know: a file that is nowhere.
  if (answer.kind === "refused" && kept === undefined) return undefined;
  throw new Fault("TOOL_FAILED", `The editor did not give ${path}: ${answer.why}`);
}

/** Replaces or makes the file of a plan, if it still holds what it held before. */
export async function writePlanned(
  plan: FilePlan,
  { before, after }: { readonly before: FormerContent; readonly after: Buffer },
  access: FileAccess,
): Promise<void> {
  const { path, inWorkspace } = plan;
  const { editor } = access.context;
  if (editor === undefined || !inWorkspace || !isText(after))
    return writeContent(path, after, { expected: expectedOf(before), make: inWorkspace });
  if (editor.write === undefined) return writeBeside(plan, { before, after }, access);
  if (after.length > HAND_LIMITS.fileBytes) throw tooLargeFault(path, after.length);
  await requireWritable(path);
  if (before !== "unread" && (await readPlannedIfAny(plan, access))?.sha256 !== before?.sha256)
    throw new Fault("CONFLICT", `${path} was changed in the editor while it was being edited; read it again.`);
  const answer = await editor.write(path, after.toString("utf8"), access.signal);
  if (answer.kind === "done") return;
  const unknown = new Fault("OUTCOME_UNKNOWN", `The editor may have written ${path}: ${answer.why} Read it again.`);
  if (answer.kind === "silent") throw unknown;
  // A refusal may come after the text was changed, such as when only saving failed: what the file holds now decides.
  const now = await readPlannedIfAny(plan, access).catch((): "unread" => "unread");
  if (now === "unread") throw unknown;
  if (now?.sha256 === sha256(after)) return;
  if (before === "unread" || now?.sha256 !== before?.sha256) throw unknown;
  throw new Fault("TOOL_FAILED", `The editor did not write ${path}: ${answer.why}`);
}

/** Writes to disk beside an editor that takes no texts, unless the editor has changes that are not saved. */
async function writeBeside(
  plan: FilePlan,
  { before, after }: { readonly before: FormerContent; readonly after: Buffer },
  access: FileAccess,
): Promise<void> {
  const { path, inWorkspace } = plan;
  const [kept, shown] = [await readContentIfAny(path), await readPlannedIfAny(plan, access)];
  if (kept?.sha256 !== shown?.sha256)
    throw new Fault("CONFLICT", `${path} has changes in the editor that are not saved: save the file, then try again.`);
  const expected = before === "unread" ? (kept?.stat ?? "nothing") : expectedOf(before);
  await writeContent(path, after, { expected, make: inWorkspace });
}

/** Removes the file of a plan, if it still is the expected one; editors do not remove files. */
export async function removePlanned({ path }: FilePlan, before: FormerContent): Promise<void> {
  const expected = expectedOf(before);
  if (expected === "nothing")
    throw new Fault("TOOL_FAILED", `${path} is only in the editor and not saved, so it cannot be removed.`);
  await removeContent(path, expected);
}

function expectedOf(before: FormerContent) {
  return before === "unread" ? "anything" : (before?.stat ?? "nothing");
}

function contentOf(text: string, path: string, kept: FileContent | undefined): FileContent {
  const bytes = Buffer.from(text);
  if (bytes.length > HAND_LIMITS.fileBytes) throw tooLargeFault(path, bytes.length);
  return { bytes, sha256: sha256(bytes), stat: kept?.stat };
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !isBinary(bytes);
}
