import type { JsonObject } from "@vidro/core";
import { readFrames } from "./agent-server.ts";

/** A way to follow a run that can be resumed after any entry. */
export interface ResumableWire {
  readonly name: string;
  /** What to ask for to get all that comes after an entry. */
  request(run: string, after: number): { readonly path: string; readonly headers: { readonly [name: string]: string } };
  /** What is kept, as it comes; what is only live is left out. */
  kept(response: Response): AsyncGenerator<JournalItem, void, undefined>;
}

/** An item of a stream that carries the `seq` of its entry. */
export interface JournalItem extends JsonObject {
  readonly seq: number;
}

const SSE = "text/event-stream";

async function* keptFrames(response: Response): AsyncGenerator<JournalItem, void, undefined> {
  for await (const { data } of readFrames(response)) if (isKept(data)) yield data;
}

async function* keptLines(response: Response): AsyncGenerator<JournalItem, void, undefined> {
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split("\n");
    // What has no end yet was not said yet.
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { seq, at, event } = line === "" ? ({} as JsonObject) : (JSON.parse(line) as JsonObject);
      // A line of AON says more than the entry that it carries.
      const data = { seq, at, event } as JsonObject;
      if (isKept(data)) yield data;
    }
  }
}

function isKept(data: JsonObject): data is JournalItem {
  return typeof data["seq"] === "number";
}

/** The agent's events, resumed by their header. */
export const AGENT_SSE: ResumableWire = {
  name: "agent SSE",
  request: (run, after) => ({
    path: `/agent/runs/${run}/events`,
    headers: { accept: SSE, ...(after === 0 ? {} : { "last-event-id": String(after) }) },
  }),
  kept: keptFrames,
};

/** The journal as events, resumed by their header. */
export const JOURNAL_SSE: ResumableWire = {
  ...AGENT_SSE,
  name: "journal SSE",
  request: (run, after) => ({ ...AGENT_SSE.request(run, after), path: `/v1/runs/${run}/events` }),
};

/** The journal as lines, resumed by the address. */
export const JOURNAL_NDJSON: ResumableWire = {
  name: "journal NDJSON",
  request: (run, after) => ({
    path: `/v1/runs/${run}/events?after=${after}`,
    headers: { accept: "application/x-ndjson" },
  }),
  kept: keptLines,
};
