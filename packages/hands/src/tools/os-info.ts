import { statfs } from "node:fs/promises";
import os from "node:os";
import { MIB } from "@vidro/core";
import type { FactsPlan } from "@vidro/core";
import { readAvailableMemory, readSystemName } from "../exec/proc.ts";
import { defineTool, type HandContext } from "./tool.ts";

/** Tells what machine this is and how it is doing. */
export const osInfoTool = defineTool({
  name: "os_info",
  description: "Tells the host's name, system, kernel, processors, load, memory, disk space and uptime.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  idempotent: true,
  effect: "read",

  plan(): Promise<FactsPlan> {
    return Promise.resolve({ kind: "facts", facts: "os" });
  },

  async run(_input, { context }) {
    const data = await readFacts(context);
    const text = Object.entries(data).map(([name, value]) => `${name}: ${String(value)}`);
    return { kind: "value", text: text.join("\n"), data };
  },
});

async function readFacts(context: HandContext) {
  const disk = await statfs(context.workspace);
  return {
    hostname: os.hostname(),
    system: readSystemName() ?? os.version(),
    kernel: `${os.type()} ${os.release()}`,
    architecture: os.machine(),
    user: os.userInfo().username,
    processors: os.availableParallelism(),
    load: os
      .loadavg()
      .map((load) => load.toFixed(2))
      .join(" "),
    memory_total_mib: Math.round(os.totalmem() / MIB),
    memory_available_mib: Math.round((readAvailableMemory() ?? os.freemem()) / MIB),
    disk_total_mib: Math.round((disk.blocks * disk.bsize) / MIB),
    disk_available_mib: Math.round((disk.bavail * disk.bsize) / MIB),
    uptime_seconds: Math.round(os.uptime()),
    workspace: context.workspace,
  };
}
