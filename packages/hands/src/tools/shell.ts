import { Fault, HAND_LIMITS, type ShellPlan } from "@vidro/core";
import { resolveFolder } from "../files/resolve-folder.ts";
import { pathSchema } from "../files/paths.ts";
import { runUntilGone } from "../exec/process.ts";
import { fingerprintLine, NO_NUL } from "../exec/fingerprints.ts";
import { isInView } from "../exec/sandbox.ts";
import { stateAccessOf } from "./run-under-cover.ts";
import { startOfPlan } from "./start-plan.ts";
import { defineTool } from "./tool.ts";

/** Runs a line in a shell. */
export const shellTool = defineTool({
  name: "shell",
  description:
    "Runs a command line in a shell on the host and gives its output and exit code. What it leaves running ends " +
    "with it: a server is for start_process. Use access=read to look only, access=workspace to change only the workspace; host needs approval, and all as well: with all, sudo works.",
  parameters: {
    type: "object",
    required: ["command"],
    properties: {
      command: {
        type: "string",
        minLength: 1,
        maxLength: HAND_LIMITS.argChars,
        pattern: NO_NUL,
        description: "The command line.",
      },
      dir_path: pathSchema("Folder to run in; default: the workspace."),
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: HAND_LIMITS.commandCapMs,
        description: `Default: ${HAND_LIMITS.commandMs}.`,
      },
      access: {
        enum: ["read", "workspace", "host", "all"],
        description:
          "What the command may touch; default: host, without Vidro's own state and without rights of other users.",
      },
    },
    additionalProperties: false,
  },
  idempotent: false,
  effect: "execute",

  async plan(input, context): Promise<ShellPlan> {
    const access = input.access ?? "host";
    const cwd = resolveFolder(input.dir_path ?? ".", context.workspace);
    const sandboxed = (access === "read" || access === "workspace") && (await context.sandbox()) !== undefined;
    if (sandboxed && !isInView(cwd, context)) {
      throw new Fault("BAD_ARGUMENTS", `${cwd} is outside the workspace: a line sees it with access host only.`);
    }
    return {
      kind: "shell",
      command: input.command,
      cwd,
      env: context.env,
      timeoutMs: input.timeout_ms ?? HAND_LIMITS.commandMs,
      access,
      sandboxed,
      ...(await fingerprintLine(input.command, cwd)),
      ...(sandboxed ? {} : { state: access === "host" ? await stateAccessOf(context) : "open" }),
    };
  },

  async run(_input, execution) {
    const { plan, context } = execution;
    return runUntilGone({ start: await startOfPlan(plan, context), timeoutMs: plan.timeoutMs }, execution);
  },
});
