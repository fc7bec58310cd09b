import { defineTool } from "./tool.ts";

/** Says where the hand works. */
export const workingDirectoryTool = defineTool({
  name: "working_directory",
  description: "Gives the absolute path of the workspace, the folder that relative paths start from.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  idempotent: true,
  effect: "read",
  plan: async () => ({ kind: "facts", facts: "working_directory" }),
  run: async (_input, { context }) => ({
    kind: "value",
    text: context.workspace,
    data: { path: context.workspace },
  }),
});
