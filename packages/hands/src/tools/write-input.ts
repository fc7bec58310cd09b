import { Fault, PROCESS_LIMITS } from "@vidro/core";
import type { BackgroundPlan } from "../background/process-record.ts";
import { outputSpan } from "../background/output-log.ts";
import { isRunning } from "../background/process-record.ts";
import { processSchema, processText, waitForSign } from "./process-text.ts";
import { defineTool } from "./tool.ts";

/** Writes to the input of a process in the background. */
export const writeInputTool = defineTool({
  name: "write_input",
  description:
    "Writes text to the stdin of a process that start_process started, and gives what it says next. End a line with " +
    "a line break; close ends the input.",
  parameters: {
    type: "object",
    required: ["process", "text"],
    properties: {
      process: processSchema("The name of the process."),
      text: { type: "string", maxLength: PROCESS_LIMITS.inputChars, description: "What to write." },
      close: { type: "boolean", description: "Whether to close the input afterwards; default: false." },
    },
    additionalProperties: false,
  },
  idempotent: false,
  effect: "execute",

  async plan({ process, text }, context): Promise<BackgroundPlan> {
    const record = context.background.find(process);
    if (!isRunning(record)) throw new Fault("BAD_ARGUMENTS", `The process ${record.name} has ended.`);
    const { plan, action } = record;
    return { ...plan, background: { ...plan.background, process: action, input: text } };
  },

  async run({ text, close = false }, { plan, context: { background }, run, by, signal }) {
    const record = background.findFor(plan.background?.process ?? "", { run, ...(by === undefined ? {} : { by }) });
    const place = outputSpan(background.folderOf(record)).end;
    await background.write(record, text, close);
    const now = await waitForSign(background, record, { place, waitMs: PROCESS_LIMITS.firstSignMs, signal });
    return processText(background, now, { place });
  },
});
