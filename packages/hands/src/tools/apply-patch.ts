import { Fault, HAND_LIMITS } from "@vidro/core";
import type { FilePlan, FilesPlan } from "@vidro/core";
import { changeFiles } from "../files/change-files.ts";
import type { FileChange } from "../files/change-files.ts";
import { sha256 } from "../files/files.ts";
import { readPatches } from "../files/patch.ts";
import type { NamedPatch } from "../files/patch.ts";
import { patchText } from "../files/patched-text.ts";
import { pathSchema, displayPath, writePlan } from "../files/paths.ts";
import { readPlannedIfAny } from "../files/planned-files.ts";
import { defineTool } from "./tool.ts";
import type { HandContext, ToolExecution, ToolInput } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["patch"],
  properties: {
    patch: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.patchBytes,
      description:
        "A unified diff of one or several files. A file is made from --- /dev/null and removed by +++ /dev/null.",
    },
    bases: {
      type: "array",
      maxItems: HAND_LIMITS.patchFiles,
      description: "The sha256 of each file that the patch was made for.",
      items: {
        type: "object",
        required: ["path", "base_sha256"],
        properties: {
          path: pathSchema("The file, as the patch calls it."),
          base_sha256: { type: "string", minLength: 64, maxLength: 64, description: "sha256 of the whole file." },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

type PatchInput = ToolInput<typeof parameters>;

/** Applies a patch to several files, word for word: to all of them or to none. */
export const applyPatchTool = defineTool({
  name: "apply_patch",
  description:
    "Applies a unified diff to one or several files, every hunk exactly where it says: to all of them or to none. " +
    "What is applied already is left as it is. What the files held is kept for undo.",
  parameters,
  // A second application recognises its own result, with or without bases, and changes nothing.
  idempotent: true,
  effect: "write",
  async plan(input, context): Promise<FilesPlan> {
    return { kind: "files", files: (await readParts(input, context)).map(({ plan }) => plan) };
  },
  async run(input, execution) {
    const { context, plan, action, run } = execution;
    const parts = await readParts(input, context);
    // The plan that was judged is the one that is carried out, also when a link was put in the way since.
    if (JSON.stringify(parts.map((part) => part.plan)) !== JSON.stringify(plan.files))
      throw new Fault(
        "PLAN_CHANGED",
        "A file of the patch became another one after the plan was made; nothing was done.",
      );
    const changes: FileChange[] = [];
    for (const part of parts) changes.push(...(await changeOf(part, execution)));
    const files = plan.files.map(({ path }) => ({
      path,
      already: !changes.some((change) => change.plan.path === path),
    }));
    const data = { files, action, run };
    if (changes.length === 0) return { kind: "value", text: "Every file already has this change.", data };
    await changeFiles(changes, execution);
    const names = changes.map((change) => displayPath(change.plan.path, context)).join(", ");
    return { kind: "value", text: `Applied the patch to ${names}. To take it back: undo with action ${action}.`, data };
  },
});

/** The part of a patch for one file, with its plan. */
interface PatchPart {
  readonly patch: NamedPatch;
  readonly base: string | undefined;
  readonly plan: FilePlan;
}

async function readParts({ patch: text, bases = [] }: PatchInput, context: HandContext): Promise<readonly PatchPart[]> {
  const patches = await readPatches(text);
  const stray = bases.find(({ path }) => !patches.some((patch) => patch.path === path));
  if (stray !== undefined)
    throw new Fault("BAD_ARGUMENTS", `bases names ${stray.path}, which the patch does not change.`);
  const parts: PatchPart[] = [];
  for (const patch of patches) {
    const base = bases.find(({ path }) => path === patch.path)?.base_sha256;
    const digest = { hunks: JSON.stringify(patch.hunks), base, isRemoval: patch.isRemoval };
    parts.push({ patch, base, plan: await writePlan(patch.path, digest, context) });
  }
  const twice = parts.find(({ plan }, index) => parts.slice(0, index).some((other) => other.plan.path === plan.path));
  if (twice !== undefined) throw new Fault("BAD_ARGUMENTS", `Two parts of the patch lead to ${twice.plan.path}.`);
  return parts;
}

/** The change of one file; none if it already has the change. */
async function changeOf({ patch, base, plan }: PatchPart, execution: ToolExecution): Promise<readonly FileChange[]> {
  const content = await readPlannedIfAny(plan, execution);
  if (patch.isRemoval && content === undefined) return [];
  const name = displayPath(plan.path, execution.context);
  const text = await patchText(content, { patch, base, path: plan.path, name });
  const before = content === undefined ? {} : { before: content };
  if (patch.isRemoval) {
    if (text !== "")
      throw new Fault("CONFLICT", `The patch removes ${name}, but not all of its lines; read the file again.`);
    return [{ plan, ...before }];
  }
  return content?.sha256 === sha256(text) ? [] : [{ plan, ...before, after: Buffer.from(text) }];
}
