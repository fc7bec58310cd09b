import { tool } from "./tool.ts";

/** Says where the hand works. */
export const workingDirectory = tool({
  name: "working_directory",
  description: "Gives the absolute path of the workspace, the folder that relative paths start from.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  idempotent: true,
  effect: "read",
  plan: async () => ({ kind: "facts", facts: "working_directory" }),
  run: async (_input, { bench }) => ({ kind: "value", text: bench.workspace, data: { path: bench.workspace } }),
});
