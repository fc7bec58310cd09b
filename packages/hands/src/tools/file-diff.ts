import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { readContentIfAny, sha256, textOf } from "../files/files.ts";
import { diffOf } from "../files/patch.ts";
import { pathField, readPlan, refuseForeign, shown } from "../files/paths.ts";
import { tool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["path", "want"],
  properties: {
    path: pathField("The file: absolute, or relative to the workspace. One that is missing counts as empty."),
    want: {
      type: "string",
      maxLength: HAND_LIMITS.fileBytes,
      description: "All of the content that the file is to have.",
    },
  },
  additionalProperties: false,
} as const;

/** Says how a file differs from what it is to be. */
export const fileDiff = tool({
  name: "file_diff",
  description: "Gives the unified diff from a file to the content it is to have, for file_apply. Changes nothing.",
  parameters,
  idempotent: true,
  effect: "read",
  plan: async (input, bench): Promise<FilePlan> => await readPlan(input.path, bench),
  async run(input, { plan, bench }) {
    const content = await readContentIfAny(plan.path);
    if (content !== undefined) refuseForeign(content.stat, plan, bench);
    const text = content === undefined ? "" : textOf(content, plan.path);
    const patch = await diffOf(shown(plan.path, bench).replace(/^\//, ""), text, input.want);
    const base_sha256 = content?.sha256 ?? sha256("");
    const words = patch === "" ? "[no difference]" : `${patch}[base_sha256 ${base_sha256}]`;
    return { kind: "value", text: words, data: { path: plan.path, patch, base_sha256 } };
  },
});
