import { PROCESS_LIMITS } from "@vidro/core";
import type { FactsPlan } from "@vidro/core";
import { outputSpan } from "../background/output-log.ts";
import { processSchema, processText, waitForSign } from "./process-text.ts";
import { defineTool } from "./tool.ts";

/** Gives what a process in the background has said. */
export const readOutputTool = defineTool({
  name: "read_output",
  description:
    "Gives the output of a process that start_process started, from a cursor on, and whether it still runs. " +
    "Without a cursor it gives the end of the output. wait_ms waits for new output.",
  parameters: {
    type: "object",
    required: ["process"],
    properties: {
      process: processSchema("The name of the process."),
      cursor: {
        type: "integer",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Where to go on: the cursor that the last reading gave.",
      },
      wait_ms: {
        type: "integer",
        minimum: 0,
        maximum: PROCESS_LIMITS.waitMs,
        description: "How long to wait for new output; default: 0.",
      },
    },
    additionalProperties: false,
  },
  idempotent: true,
  effect: "read",

  async plan(input, context): Promise<FactsPlan> {
    return { kind: "facts", facts: `output of ${context.background.find(input.process).action}` };
  },

  async run(input, { context: { background }, run, by, signal }) {
    const record = background.findFor(input.process, { run, ...(by === undefined ? {} : { by }) });
    const span = outputSpan(background.folderOf(record));
    // A cursor beyond the end would skip what the process says next.
    const place = Math.min(input.cursor ?? Math.max(span.from, span.end - PROCESS_LIMITS.readBytes), span.end);
    const now = await waitForSign(background, record, { place, waitMs: input.wait_ms ?? 0, signal });
    return processText(background, now, { place });
  },
});
