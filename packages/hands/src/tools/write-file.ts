import { HAND_LIMITS } from "@vidro/core";
import type { FilePlan } from "@vidro/core";
import { changeFiles, readFormer } from "../files/change-files.ts";
import { sha256 } from "../files/files.ts";
import { pathSchema, writePlan } from "../files/paths.ts";
import { defineTool } from "./tool.ts";

const parameters = {
  type: "object",
  required: ["file_path", "content"],
  properties: {
    file_path: pathSchema("The file: absolute, or relative to the workspace."),
    content: { type: "string", maxLength: HAND_LIMITS.fileBytes, description: "All of the new content." },
  },
  additionalProperties: false,
} as const;

/** Makes a file, or replaces all of it. */
export const writeFileTool = defineTool({
  name: "write_file",
  description: "Writes a whole file, replacing what was there. In the workspace, folders that are missing are made.",
  parameters,
  // A repeated write would overwrite changes that were made in between.
  idempotent: false,
  effect: "write",
  plan: async (input, context): Promise<FilePlan> => await writePlan(input.file_path, input.content, context),
  async run({ content }, execution) {
    const { plan } = execution;
    const former = await readFormer(plan, execution);
    const before = former === undefined ? {} : { before: former };
    await changeFiles([{ plan, ...before, after: Buffer.from(content) }], execution);
    const bytes = Buffer.byteLength(content);
    const data = { path: plan.path, bytes, sha256: sha256(content) };
    return { kind: "value", text: `Wrote ${bytes} bytes to ${plan.path}.`, data };
  },
});
