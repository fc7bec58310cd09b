import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { sha256, decodeText } from "../files/files.ts";
import { createDiff } from "../files/patch.ts";
import { pathSchema, readPlan, refuseForeign, displayPath } from "../files/paths.ts";
import { readPlannedIfAny } from "../files/planned-files.ts";
import { defineTool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["path", "want"],
  properties: {
    path: pathSchema("The file: absolute, or relative to the workspace. One that is missing counts as empty."),
    want: {
      type: "string",
      maxLength: HAND_LIMITS.fileBytes,
      description: "All of the content that the file is to have.",
    },
  },
  additionalProperties: false,
} as const;

/** Says how a file differs from what it is to be. */
export const fileDiffTool = defineTool({
  name: "file_diff",
  description: "Gives the unified diff from a file to the content it is to have, for file_apply. Changes nothing.",
  parameters,
  idempotent: true,
  effect: "read",
  plan: async (input, context): Promise<FilePlan> => await readPlan(input.path, context),
  async run(input, execution) {
    const { plan, context } = execution;
    const content = await readPlannedIfAny(plan, execution);
    if (content !== undefined) refuseForeign(content.stat, plan, context);
    const text = content === undefined ? "" : decodeText(content, plan.path);
    const patch = await createDiff(displayPath(plan.path, context).replace(/^\//, ""), text, input.want);
    const base_sha256 = content?.sha256 ?? sha256("");
    const words = patch === "" ? "[no difference]" : `${patch}[base_sha256 ${base_sha256}]`;
    return { kind: "value", text: words, data: { path: plan.path, patch, base_sha256 } };
  },
});
