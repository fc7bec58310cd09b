import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { changeFiles } from "../files/change-files.ts";
import { sha256 } from "../files/files.ts";
import { readPatch } from "../files/patch.ts";
import { patchText } from "../files/patched-text.ts";
import { pathSchema, readPlan, displayPath, writePlan } from "../files/paths.ts";
import { readPlannedIfAny } from "../files/planned-files.ts";
import { defineTool } from "./tool.ts";
import type { HandContext } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["path", "patch"],
  properties: {
    path: pathSchema("The file: absolute, or relative to the workspace. One that is missing counts as empty."),
    patch: {
      type: "string",
      minLength: 1,
      maxLength: HAND_LIMITS.patchBytes,
      description: "A unified diff of this one file.",
    },
    base_sha256: {
      type: "string",
      minLength: 64,
      maxLength: 64,
      description: "sha256 of the file that the patch was made for, as file_diff gives it.",
    },
  },
  additionalProperties: false,
} as const;

/** Applies a patch to one file, word for word. */
export const fileApplyTool = defineTool({
  name: "file_apply",
  description:
    "Applies a unified diff to one file, every hunk exactly where it says. What is applied already is left as it is.",
  parameters,
  // A second application recognises its own result, with or without a base, and changes nothing.
  idempotent: true,
  effect: "write",
  async plan(input, context): Promise<FilePlan> {
    const { path, patch, base_sha256 } = input;
    await readPatch(patch, namesOf(path, (await readPlan(path, context)).path, context));
    return await writePlan(path, { patch, base_sha256 }, context);
  },
  async run(input, execution) {
    const { plan, context } = execution;
    const patch = await readPatch(input.patch, namesOf(input.path, plan.path, context));
    const content = await readPlannedIfAny(plan, execution);
    const name = displayPath(plan.path, context);
    const result = await patchText(content, { patch, base: input.base_sha256, path: plan.path, name });
    const data = { path: plan.path, applied: true, sha256: sha256(result) };
    if (content !== undefined && sha256(result) === content.sha256) {
      return { kind: "value", text: `${plan.path} already has this change.`, data: { ...data, already: true } };
    }
    const before = content === undefined ? {} : { before: content };
    await changeFiles([{ plan, ...before, after: Buffer.from(result) }], execution);
    return { kind: "value", text: `Applied the patch to ${plan.path}.`, data };
  },
});

/** The names by which a patch may call the file. */
function namesOf(asked: string, path: string, context: HandContext): string[] {
  return [asked, displayPath(path, context), path];
}
