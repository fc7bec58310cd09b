import { isUtf8 } from "node:buffer";
import { asFault, Fault, HAND_LIMITS, type FilesPlan } from "@vidro/core";
import { changeFiles } from "../files/change-files.ts";
import type { FileChange } from "../files/change-files.ts";
import { formerFilesOf, formerFilesOfRun, readFormerContent } from "../files/former-files.ts";
import type { FormerFile } from "../files/former-files.ts";
import { createDiff } from "../files/patch.ts";
import { displayPath, writePlan } from "../files/paths.ts";
import { readPlannedIfAny } from "../files/planned-files.ts";
import { defineTool } from "./tool.ts";
import type { HandContext, ToolInput } from "./tool.ts";

const id = (description: string) => ({ type: "string", minLength: 1, maxLength: 200, description }) as const;

const parameters = {
  type: "object",
  properties: {
    action: id("Undo what this action changed."),
    run: id("Undo everything that the actions of this run changed."),
  },
  additionalProperties: false,
} as const;

/** Puts files back as they were before an action or a run. */
export const undoTool = defineTool({
  name: "undo",
  description:
    "Puts the files that an action or a whole run changed with file tools back as they were, all or none. " +
    "A file that was changed otherwise since is a conflict. What commands changed is not undone.",
  parameters,
  // A second undo finds the files as they were and changes nothing.
  idempotent: true,
  effect: "write",
  async plan(input, context): Promise<FilesPlan> {
    const steps = await readSteps(input, context);
    const patch = await patchOf(steps, context);
    return { kind: "files", files: steps.map(({ plan }) => plan), ...(patch === "" ? {} : { patch }) };
  },
  async run(input, execution) {
    const { context, plan } = execution;
    const steps = await readSteps(input, context, execution.by);
    if (JSON.stringify(steps.map((step) => step.plan)) !== JSON.stringify(plan.files))
      throw new Fault("PLAN_CHANGED", "More was changed after the plan to undo was made; nothing was done.");
    const changes: FileChange[] = [];
    for (const step of steps) changes.push(...(await changeOf(step, execution)));
    await changeFiles(changes, execution);
    const names = changes.map((change) => displayPath(change.plan.path, context));
    const text = names.length === 0 ? "The files are as they were already." : `Put back ${names.join(", ")}.`;
    return { kind: "value", text, data: { files: changes.map((change) => change.plan.path) } };
  },
});

/** How one file is put back: from what the last change left to what was there before the first. */
interface UndoStep {
  readonly plan: FilesPlan["files"][number];
  readonly first: FormerFile;
  /** The action that keeps the content before. */
  readonly action: string;
  readonly last: FormerFile;
}

async function readSteps(input: ToolInput<typeof parameters>, context: HandContext, by?: string): Promise<UndoStep[]> {
  const { action, run } = input;
  if ((action === undefined) === (run === undefined))
    throw new Fault("BAD_ARGUMENTS", "Name either the action or the run to undo.");
  const { state } = context;
  const changes =
    action === undefined ? await formerFilesOfRun(state, run ?? "") : [await formerFilesOf(state, action)];
  const steps = new Map<string, Omit<UndoStep, "plan">>();
  for (const change of changes.filter((one) => by === undefined || one.by === by)) {
    for (const file of change.files) {
      const later = steps.get(file.path);
      if (later !== undefined && later.first.before !== file.after) throw changedFault(file.path, context);
      steps.set(file.path, { first: file, action: change.action, last: later?.last ?? file });
    }
  }
  if (steps.size > HAND_LIMITS.patchFiles)
    throw new Fault(
      "PAYLOAD_TOO_LARGE",
      `More than ${HAND_LIMITS.patchFiles} files were changed; undo action by action.`,
    );
  const planned: UndoStep[] = [];
  for (const [path, step] of steps) {
    const digest = { before: step.first.before ?? null, after: step.last.after ?? null };
    planned.push({ ...step, plan: await writePlan(path, digest, context) });
  }
  return planned;
}

/** The diffs of what would be put back; a file that cannot be shown, or that policy keeps from readers, is named. */
async function patchOf(steps: readonly UndoStep[], context: HandContext): Promise<string> {
  const parts: string[] = [];
  let bytes = 0;
  for (const step of steps) {
    const part = await diffOfStep(step, context);
    bytes += Buffer.byteLength(part);
    parts.push(bytes <= HAND_LIMITS.patchBytes ? part : notShown(step, context, "the change is too long"));
  }
  return parts.join("");
}

async function diffOfStep(step: UndoStep, context: HandContext): Promise<string> {
  const { path, inWorkspace } = step.plan;
  if (context.judge({ kind: "file", operation: "read", path, inWorkspace }).decision !== "allow")
    return notShown(step, context, "reading it needs an approval of its own");
  try {
    const [change] = await changeOf(step, { context });
    if (change === undefined) return "";
    const before = change.before === "unread" ? undefined : change.before?.bytes;
    const name = displayPath(path, context).replace(/^\//, "");
    return await createDiff(name, readText(before), readText(change.after));
  } catch (thrown) {
    return notShown(step, context, asFault(thrown).message);
  }
}

function readText(content: Buffer = Buffer.of()): string {
  if (isUtf8(content) && !content.includes(0)) return content.toString("utf8");
  throw new Fault("TOOL_FAILED", "it is not UTF-8 text");
}

function notShown({ plan }: UndoStep, context: HandContext, why: string): string {
  return `[${displayPath(plan.path, context)} is not shown: ${why}]\n`;
}

async function changeOf(
  { plan, first, last, action }: UndoStep,
  access: { readonly context: HandContext; readonly signal?: AbortSignal },
): Promise<readonly FileChange[]> {
  const { context } = access;
  const now = await readPlannedIfAny(plan, access);
  if (now?.sha256 === first.before) return [];
  if (now?.sha256 !== last.after) throw changedFault(plan.path, context);
  if (!first.kept)
    throw new Fault("NOT_FOUND", `What ${displayPath(plan.path, context)} held was not kept; nothing was done.`);
  const after = await readFormerContent(context.state, action, first);
  return [{ plan, ...(now === undefined ? {} : { before: now }), ...(after === undefined ? {} : { after }) }];
}

function changedFault(path: string, context: HandContext): Fault {
  const name = displayPath(path, context);
  return new Fault(
    "CONFLICT",
    `${name} was changed otherwise since, so nothing was undone; read it and edit it instead.`,
  );
}
