import type { FactsPlan } from "@vidro/core";
import { HAND_LIMITS, MIB } from "@vidro/core";
import { listProcesses, sortProcesses, type ProcessListing } from "../exec/proc.ts";
import { defineTool } from "./tool.ts";

const DEFAULT_ROWS = 30;

/** Length to which a command line is cut in a listing. */
const COMMAND_CHARS = 200;

/** Lists the processes of the host. */
export const processesTool = defineTool({
  name: "processes",
  description: "Lists the processes of the host with owner, processor share, memory and command line.",
  parameters: {
    type: "object",
    properties: {
      limit: { type: "integer", minimum: 1, maximum: HAND_LIMITS.entries, description: `Default: ${DEFAULT_ROWS}.` },
      sort_by: { enum: ["cpu", "mem", "pid", "name"], description: "Default: cpu." },
      name_pattern: {
        type: "string",
        minLength: 1,
        maxLength: 256,
        description: "Only those whose name or command contains this text.",
      },
    },
    additionalProperties: false,
  },
  idempotent: true,
  effect: "read",

  plan(): Promise<FactsPlan> {
    return Promise.resolve({ kind: "facts", facts: "processes" });
  },

  async run(input) {
    const pattern = input.name_pattern?.toLowerCase() ?? "";
    const all = await listProcesses();
    const matching = all.filter(({ name, cmd }) => `${name}\n${cmd}`.toLowerCase().includes(pattern));
    const rows = sortProcesses(matching, input.sort_by ?? "cpu")
      .slice(0, input.limit ?? DEFAULT_ROWS)
      .map((row) => ({ ...row, cmd: row.cmd.slice(0, COMMAND_CHARS) }));
    const lines = [
      "PID\tPPID\tUSER\tCPU%\tMEM MiB\tSTATE\tCOMMAND",
      ...rows.map(formatLine),
      `[${rows.length} of ${matching.length} shown, ${all.length} in all]`,
    ];
    return { kind: "value", text: lines.join("\n"), data: { processes: rows, total: matching.length } };
  },
});

function formatLine({ pid, ppid, user, cpuPercent, memRssBytes, state, cmd }: ProcessListing): string {
  return [pid, ppid, user, cpuPercent.toFixed(1), (memRssBytes / MIB).toFixed(1), state, cmd].join("\t");
}
