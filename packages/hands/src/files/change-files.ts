import { asFault, Fault } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import type { ToolExecution } from "../tools/tool.ts";
import { sha256 } from "./files.ts";
import type { FileContent } from "./files.ts";
import { forgetFormerFiles, keepFormerFiles } from "./former-files.ts";
import { readPlannedIfAny, removePlanned, writePlanned } from "./planned-files.ts";
import type { FileAccess, FormerContent } from "./planned-files.ts";

/** One file of a change. */
export interface FileChange {
  readonly plan: FilePlan;
  /** The file as it was read; absent if there was none; "unread" if it is replaced whatever it holds. */
  readonly before?: FileContent | "unread";
  /** Its new content; absent to remove it. */
  readonly after?: Buffer;
}

/**
 * Changes files, all or none: what they held is kept first, and when one of them cannot be changed, those that were are
 * put back. After a crash the same action begins again and completes.
 */
export async function changeFiles(changes: readonly FileChange[], execution: ToolExecution): Promise<void> {
  if (changes.length === 0) return;
  const kept = changes.map(({ plan: { path }, before, after }) => ({
    path,
    ...(before === undefined ? {} : { before: before === "unread" ? "" : before.sha256 }),
    ...(after === undefined ? {} : { after: sha256(after) }),
    content: before === undefined || before === "unread" ? undefined : before.bytes,
  }));
  await keepFormerFiles(kept, execution);
  const made: FileChange[] = [];
  try {
    for (const change of changes) {
      await changeFile(change, execution);
      made.push(change);
    }
  } catch (error) {
    const stuck = await putBack(made, execution);
    if (stuck.length > 0) throw stuckFault(error, stuck);
    // What the file held is needed for an undo if it was changed after all.
    if (!(error instanceof Fault && error.code === "OUTCOME_UNKNOWN")) await forgetFormerFiles(execution);
    throw error;
  }
}

/** What a file holds, for a tool that replaces it whatever it is. */
export async function readFormer(plan: FilePlan, access: FileAccess): Promise<FormerContent> {
  try {
    return await readPlannedIfAny(plan, access);
  } catch (error) {
    // A file that is too large or may not be read can still be replaced; only undo is lost. A text in an editor is not
    // replaced unread: a person may be writing it.
    if (error instanceof Fault && (access.context.editor === undefined || !plan.inWorkspace)) return "unread";
    throw error;
  }
}

async function changeFile({ plan, before, after }: FileChange, access: FileAccess): Promise<void> {
  if (after !== undefined) await writePlanned(plan, { before, after }, access);
  else if (before !== undefined) await removePlanned(plan, before);
}

/** Puts changed files back, unless another process has changed them since; returns the paths that stay changed. */
async function putBack(made: readonly FileChange[], access: FileAccess): Promise<readonly string[]> {
  const stuck: string[] = [];
  for (const { plan, before, after } of made.toReversed()) {
    try {
      const now = await readPlannedIfAny(plan, access);
      if (before === "unread" || now?.sha256 !== (after === undefined ? undefined : sha256(after)))
        throw new Fault("CONFLICT");
      const back = before === undefined ? {} : { after: before.bytes };
      await changeFile({ plan, ...(now === undefined ? {} : { before: now }), ...back }, access);
    } catch {
      stuck.push(plan.path);
    }
  }
  return stuck;
}

function stuckFault(error: unknown, stuck: readonly string[]): Fault {
  const { code, message: why } = asFault(error);
  const message = `${why} These files were changed before and could not be put back: ${stuck.join(", ")}.`;
  return new Fault(code === "OUTCOME_UNKNOWN" ? code : "TOOL_FAILED", message, { cause: error });
}
