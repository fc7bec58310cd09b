import type { FactsPlan } from "@vidro/core";
import { oneLine, planWords } from "@vidro/core/text";
import { processData, standingWords } from "./process-text.ts";
import { defineTool } from "./tool.ts";

const COMMAND_CHARS = 200;

/** Lists the processes in the background that a run may use. */
export const startedProcessesTool = defineTool({
  name: "started_processes",
  description: "Lists the processes that this run has started in the background, and those that are kept beyond runs.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  idempotent: true,
  effect: "read",

  async plan(): Promise<FactsPlan> {
    return { kind: "facts", facts: "processes in the background" };
  },

  async run(_input, { context: { background }, run, by }) {
    const mine = background.list().filter((record) => record.keep || (record.run === run && record.by === by));
    const lines = mine.map((record) => {
      const kept = record.keep ? ", kept" : "";
      return `${record.name}: ${oneLine(planWords(record.plan), COMMAND_CHARS)} (process ${record.pid}${kept}) ${standingWords(record)}`;
    });
    const text = lines.length === 0 ? "No process was started in the background." : lines.join("\n");
    return { kind: "value", text, data: { processes: mine.map(processData) } };
  },
});
