import { HAND_LIMITS, type ProcessPlan } from "@vidro/core";
import { resolveFolder } from "../files/resolve-folder.ts";
import { pathSchema } from "../files/paths.ts";
import { runUntilGone } from "../exec/process.ts";
import { isSetIdProgram, NO_NUL, findProgram, fingerprintCommand } from "../exec/fingerprints.ts";
import { stateAccessOf } from "./run-under-cover.ts";
import { startOfPlan } from "./start-plan.ts";
import { defineTool } from "./tool.ts";

const word = { type: "string", maxLength: HAND_LIMITS.argChars, pattern: NO_NUL } as const;

/** Runs one program with its arguments; no shell is involved. */
export const commandTool = defineTool({
  name: "command",
  description:
    "Runs one program with arguments on the host, without a shell: no pipes, globs, variables or redirections. " +
    "Preferred over shell, because policy can allow it without asking.",
  parameters: {
    type: "object",
    required: ["command"],
    properties: {
      command: {
        type: "string",
        minLength: 1,
        maxLength: HAND_LIMITS.pathChars,
        pattern: NO_NUL,
        description: "The program: a name looked up in PATH, or a path.",
      },
      args: { type: "array", items: word, maxItems: HAND_LIMITS.args, description: "Its arguments, one word each." },
      cwd: pathSchema("Folder to run in; default: the workspace."),
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: HAND_LIMITS.commandCapMs,
        description: `Default: ${HAND_LIMITS.commandMs}.`,
      },
      access: {
        enum: ["host", "all"],
        description:
          "Default: host, without Vidro's own state and without rights of other users; all is for programs that need " +
          "either, such as scripts with sudo.",
      },
    },
    additionalProperties: false,
  },
  idempotent: false,
  effect: "execute",

  async plan(input, context): Promise<ProcessPlan> {
    const cwd = resolveFolder(input.cwd ?? ".", context.workspace);
    const args = input.args ?? [];
    const program = findProgram(input.command, cwd, context.env["PATH"] ?? "");
    const argv = [input.command, ...args];
    return {
      kind: "process",
      program,
      argv,
      cwd,
      env: context.env,
      timeoutMs: input.timeout_ms ?? HAND_LIMITS.commandMs,
      ...(await fingerprintCommand(program, argv, cwd)),
      state: input.access === "all" || isSetIdProgram(program) ? "open" : await stateAccessOf(context),
    };
  },

  async run(_input, execution) {
    const { plan, context } = execution;
    return runUntilGone({ start: await startOfPlan(plan, context), timeoutMs: plan.timeoutMs }, execution);
  },
});
