import { Fault } from "../fault.ts";
import type { FaultReport } from "../fault.ts";
import { CODEC_LIMITS } from "../limits.ts";
import { lineSplitter } from "./line-splitter.ts";

/** An event as a server sends it. */
export interface SseEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

/** An event as a client receives it: `event` is "message" when it had no name, `id` is the last id that was sent. */
export interface SseMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** An event of a stream, or the fault of one that could not be read. */
export type SseItem =
  | { readonly ok: true; readonly value: SseMessage }
  | { readonly ok: false; readonly fault: FaultReport };

/** Reads an event stream from bytes that come in any pieces, as WHATWG HTML says. */
export interface SseDecoder {
  /** What to resume from. */
  readonly lastEventId: string;
  /** How long the server asks to wait before connecting again. */
  readonly retryMs: number | undefined;
  /** The events that this chunk completes. */
  push(chunk: Uint8Array): readonly SseItem[];
  /** The fault of a stream that ends inside an event; such an event is never delivered. */
  end(): SseItem | undefined;
}

/** A comment that clients ignore; it shows that the connection is alive. */
export const SSE_HEARTBEAT = ": heartbeat\n\n";

const COLON = 0x3a;
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** An event as text; BAD_REQUEST when its name or id would break out of its line. */
export function encodeSse({ id, event, data }: SseEvent): string {
  if (event !== undefined && /[\r\n]/.test(event)) {
    throw new Fault("BAD_REQUEST", "The name of an event has a line break. Use a name of one line.");
  }
  // Clients ignore an id with NUL, so the stream could not be resumed from it.
  if (id !== undefined && /[\r\n\0]/.test(id)) {
    throw new Fault("BAD_REQUEST", "The id of an event has a line break or NUL. Use an id of one line.");
  }
  const head = (id === undefined ? "" : `id: ${id}\n`) + (event === undefined ? "" : `event: ${event}\n`);
  // Most data is one line of JSON, and looking for a line break is much cheaper than replacing none.
  const isLine = !data.includes("\n") && !data.includes("\r");
  return `${head}data: ${isLine ? data : data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;
}

/** The line that tells a client how long to wait before it connects again. */
export function encodeSseRetry(ms: number): string {
  return `retry: ${ms}\n\n`;
}

/** A decoder of events of at most `maxBytes`; a larger one is one fault, and reading goes on behind it. */
export function sseDecoder(maxBytes: number = CODEC_LIMITS.sseBytes): SseDecoder {
  const source = lineSplitter(maxBytes, "any");
  const reader = eventReader(maxBytes);
  return {
    get lastEventId() {
      return reader.lastEventId;
    },
    get retryMs() {
      return reader.retryMs;
    },
    push(chunk) {
      const items: SseItem[] = [];
      source.push(chunk, (line) => {
        const item = reader.read(line);
        if (item !== undefined) items.push(item);
      });
      return items;
    },
    end() {
      const rest = source.end();
      const begun = rest.length > 0 && rest[0] !== COLON;
      if (reader.draft.spoilt || !(begun || reader.draft.data !== undefined)) return undefined;
      return failedItem(
        new Fault("BAD_REQUEST", "The stream ended inside an event. Connect again from the last event id."),
      );
    },
  };
}

interface EventReader {
  readonly draft: Draft;
  lastEventId: string;
  retryMs: number | undefined;
  /** What the line completes; undefined stands for a line over the bound. */
  read(line: Uint8Array | undefined): SseItem | undefined;
}

function eventReader(maxBytes: number): EventReader {
  let first = true;
  let draft = emptyDraft("");

  function dispatch(): SseItem | undefined {
    const { data, event, id, spoilt } = draft;
    if (!spoilt) reader.lastEventId = id;
    draft = emptyDraft(reader.lastEventId);
    if (spoilt || data === undefined) return undefined;
    return { ok: true, value: { id, event: event === "" ? "message" : event, data } };
  }

  function spoil(): SseItem | undefined {
    if (draft.spoilt) return undefined;
    draft = { ...emptyDraft(reader.lastEventId), spoilt: true };
    return failedItem(
      new Fault("PAYLOAD_TOO_LARGE", `The event is larger than ${maxBytes} bytes. Send smaller events.`),
    );
  }

  function field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") draft.data = draft.data === undefined ? value : `${draft.data}\n${value}`;
    else if (name === "event") draft.event = value;
    else if (name === "id" && !value.includes("\0")) draft.id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) reader.retryMs = Number(value);
  }

  const reader: EventReader = {
    get draft() {
      return draft;
    },
    lastEventId: "",
    retryMs: undefined,
    read(bytes) {
      const line = first && bytes !== undefined ? withoutBom(bytes) : bytes;
      first = false;
      if (line === undefined) return spoil();
      if (line.length === 0) return dispatch();
      if (line[0] === COLON) return undefined;
      draft.bytes += line.length + 1;
      if (draft.bytes > maxBytes) return spoil();
      if (!draft.spoilt) field(lenient.decode(line));
      return undefined;
    },
  };
  return reader;
}

function failedItem(fault: Fault): SseItem {
  return { ok: false, fault: fault.report() };
}

interface Draft {
  id: string;
  event: string;
  data: string | undefined;
  bytes: number;
  /** The event is over the bound: it is read to its end and not delivered. */
  spoilt: boolean;
}

/** An id holds for all events after it, until another comes. */
function emptyDraft(id: string): Draft {
  return { id, event: "", data: undefined, bytes: 0, spoilt: false };
}

function withoutBom(line: Uint8Array): Uint8Array {
  return line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;
}
