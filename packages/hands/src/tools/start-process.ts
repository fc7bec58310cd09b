import { Fault, HAND_LIMITS, MINUTE_MS, PROCESS_LIMITS } from "@vidro/core";
import { isRunning } from "../background/process-record.ts";
import type { BackgroundPlan } from "../background/process-record.ts";
import { NO_NUL } from "../exec/fingerprints.ts";
import { pathSchema } from "../files/paths.ts";
import { commandTool } from "./command.ts";
import { processSchema, processText, waitForSign } from "./process-text.ts";
import { shellTool } from "./shell.ts";
import { defineTool } from "./tool.ts";

const word = { type: "string", maxLength: HAND_LIMITS.argChars, pattern: NO_NUL } as const;

/** Starts a program or a shell line in the background. */
export const startProcessTool = defineTool({
  name: "start_process",
  description:
    "Starts a server, watcher or other long process in the background and returns at once with its name and first " +
    "output. Give either command with args, without a shell, or line for a shell. Then use read_output, write_input " +
    "and stop_process. It ends with this run unless keep is true, which a person has to approve.",
  parameters: {
    type: "object",
    properties: {
      command: { ...word, minLength: 1, description: "The program: a name looked up in PATH, or a path." },
      args: { type: "array", items: word, maxItems: HAND_LIMITS.args, description: "Its arguments, one word each." },
      line: { ...word, minLength: 1, description: "A command line for the shell, instead of command and args." },
      cwd: pathSchema("Folder to run in; default: the workspace."),
      access: {
        enum: ["read", "workspace", "host", "all"],
        description: "As for shell and command; default: host. A line with workspace has no network but its own.",
      },
      name: { ...processSchema("What to call it; default: p1, p2 and so on."), pattern: "^[A-Za-z][A-Za-z0-9._-]*$" },
      keep: { type: "boolean", description: "Whether it goes on after this run has ended; default: false." },
      minutes: {
        type: "integer",
        minimum: 1,
        maximum: PROCESS_LIMITS.keptCapMs / MINUTE_MS,
        description: `How long it may run at most; default: ${PROCESS_LIMITS.lifeMs / MINUTE_MS}, kept: ${PROCESS_LIMITS.keptMs / MINUTE_MS}.`,
      },
    },
    additionalProperties: false,
  },
  idempotent: false,
  effect: "execute",

  async plan({ command, args, line, cwd, access, keep = false, minutes }, context): Promise<BackgroundPlan> {
    if ((command === undefined) === (line === undefined) || (line !== undefined && args !== undefined))
      throw new Fault("BAD_ARGUMENTS", "Give either command with args, or line.");
    const cap = keep ? PROCESS_LIMITS.keptCapMs : PROCESS_LIMITS.lifeCapMs;
    const asked = minutes === undefined ? undefined : minutes * MINUTE_MS;
    if (asked !== undefined && asked > cap)
      throw new Fault(
        "BAD_ARGUMENTS",
        `A process ${keep ? "that is kept" : "of a run"} runs ${cap / MINUTE_MS} minutes at most.`,
      );
    const timeoutMs = asked ?? (keep ? PROCESS_LIMITS.keptMs : PROCESS_LIMITS.lifeMs);
    const terms = { timeoutMs, background: keep ? { keep } : {} } as const;
    if (line !== undefined) {
      const where = { ...(cwd === undefined ? {} : { dir_path: cwd }), ...(access === undefined ? {} : { access }) };
      return { ...(await shellTool.plan({ command: line, ...where }, context)), ...terms };
    }
    if (access === "read" || access === "workspace")
      throw new Fault("BAD_ARGUMENTS", `The access ${access} is for a line; policy decides how a command is held.`);
    const where = { ...(cwd === undefined ? {} : { cwd }), ...(access === undefined ? {} : { access }) };
    return { ...(await commandTool.plan({ command: command ?? "", args: args ?? [], ...where }, context)), ...terms };
  },

  async run({ name }, { plan, context, action, run, by, signal }) {
    const { workspace, state, reserved, secrets, env, memoryBytes, background } = context;
    const hidden = secrets();
    const record = await background.start(
      {
        record: { action, run, keep: plan.background?.keep === true, ...(by === undefined ? {} : { by }) },
        plan,
        workspace,
        state,
        reserved: reserved(),
        env,
        memoryBytes: memoryBytes(),
        ...(hidden === undefined ? {} : { secrets: hidden }),
      },
      name,
    );
    const now = await waitForSign(background, record, { place: 0, waitMs: PROCESS_LIMITS.firstSignMs, signal });
    const how = record.keep ? "it goes on when this run has ended" : "it ends with this run";
    const begun = `Started ${record.name} (process ${record.pid}) in the background; ${how}.`;
    return processText(background, now, { place: 0, lead: isRunning(now) ? begun : `${begun} It has ended already.` });
  },
});
