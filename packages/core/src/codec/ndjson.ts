import { asFault, Fault } from "../fault.ts";
import type { FaultReport } from "../fault.ts";
import type { Json } from "../json.ts";
import { CODEC_LIMITS } from "../limits.ts";
import { parseJson } from "./json.ts";
import { lineSplitter } from "./line-splitter.ts";

/** A line: its value, or its fault with the text of the line as far as it is within the bound. */
export type NdjsonItem =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: FaultReport; readonly text: string };

/** Reads ND-JSON from bytes that come in any pieces. */
export interface NdjsonDecoder {
  /** The lines that this chunk completes; blank ones are left out. */
  push(chunk: Uint8Array): readonly NdjsonItem[];
  /** The last line when nothing ended it. */
  end(): NdjsonItem | undefined;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const BLANK = /^[ \t\r]*$/;

/** A value as one line. */
export function encodeNdjson(value: Json): string {
  return `${JSON.stringify(value)}\n`;
}

/** A decoder of lines of at most `maxBytes`; no line, however bad, ends the stream. */
export function ndjsonDecoder(maxBytes: number = CODEC_LIMITS.lineBytes): NdjsonDecoder {
  const source = lineSplitter(maxBytes, "lf");
  return {
    push(chunk) {
      const items: NdjsonItem[] = [];
      source.push(chunk, (line) => {
        const item = line === undefined ? oversize(maxBytes) : decode(line);
        if (item !== undefined) items.push(item);
      });
      return items;
    },
    end: () => decode(source.end()),
  };
}

function decode(line: Uint8Array): NdjsonItem | undefined {
  let text: string | undefined;
  try {
    text = utf8(line);
    return BLANK.test(text) ? undefined : { ok: true, value: parseJson(text) };
  } catch (thrown) {
    return { ok: false, fault: asFault(thrown).report(), text: text ?? lenient.decode(line) };
  }
}

function utf8(line: Uint8Array): string {
  try {
    return strict.decode(line);
  } catch (thrown) {
    throw new Fault("BAD_REQUEST", "The line is not UTF-8. Send UTF-8 only.", { cause: thrown });
  }
}

function oversize(maxBytes: number): NdjsonItem {
  const fault = new Fault("PAYLOAD_TOO_LARGE", `The line is longer than ${maxBytes} bytes. Send shorter lines.`);
  return { ok: false, fault: fault.report(), text: "" };
}
