import type { FactsPlan, OrderPlan } from "@vidro/core";
import { readRecord } from "../background/process-record.ts";
import { ENDING } from "../policy/plan-verdict.ts";
import { processData, processSchema, standingWords } from "./process-text.ts";
import { defineTool } from "./tool.ts";

/** Ends a process in the background. */
export const stopProcessTool = defineTool({
  name: "stop_process",
  description:
    "Ends a process that start_process started, with everything that it has started: SIGTERM, then SIGKILL. One that " +
    "is kept after its run is ended only when a person approves.",
  parameters: {
    type: "object",
    required: ["process"],
    properties: { process: processSchema("The name of the process.") },
    additionalProperties: false,
  },
  idempotent: true,
  effect: "execute",

  async plan(input, context): Promise<FactsPlan | OrderPlan> {
    const { action, keep } = context.background.find(input.process);
    if (!keep) return { kind: "facts", facts: ENDING };
    return { kind: "order", tool: "stop_process", input: { process: action } };
  },

  async run(input, { plan, context: { background }, run, by }) {
    const planned = plan.kind === "order" ? plan.input["process"] : undefined;
    const named = typeof planned === "string" ? planned : input.process;
    const record = background.findFor(named, { run, ...(by === undefined ? {} : { by }) });
    await background.stop(record);
    const now = readRecord(background.folderOf(record)) ?? record;
    return { kind: "value", text: `${now.name} ${standingWords(now)}.`, data: processData(now) };
  },
});
