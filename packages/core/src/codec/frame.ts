import { asFault, Fault } from "../fault.ts";
import type { FaultReport } from "../fault.ts";
import type { Json } from "../json.ts";
import { CODEC_LIMITS } from "../limits.ts";
import { byteBuffer } from "./byte-buffer.ts";
import { parseJson } from "./json.ts";

/** A frame: its value, or why it has none. */
export type FrameItem =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: FaultReport };

/** Reads frames from bytes that come in any pieces. */
export interface FrameDecoder {
  /** Bound of the next frames; a frame whose header was read keeps the bound of that moment. */
  maxBytes: number;
  /** Whether a header was refused. The frames behind it cannot be located, so nothing more is read. */
  readonly closed: boolean;
  /** The frames that this chunk completes. */
  push(chunk: Uint8Array): readonly FrameItem[];
  /** The fault of a stream that ends inside a frame. */
  end(): FrameItem | undefined;
}

const HEADER_BYTES = 4;
/** Room for the header in front of the text, so that one allocation holds the frame. */
const HEADER_ROOM = "\0".repeat(HEADER_BYTES);
const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A value as a frame: UInt32BE length, then JSON in UTF-8; PAYLOAD_TOO_LARGE when it is over the bound. */
export function encodeFrame(value: Json, maxBytes: number = CODEC_LIMITS.frameBytes): Uint8Array {
  const frame = encoder.encode(HEADER_ROOM + JSON.stringify(value));
  const length = frame.length - HEADER_BYTES;
  if (length > maxBytes) throw tooLarge(length, maxBytes);
  // Byte by byte: this runs for every message, and a view would be one more object each time.
  frame[0] = length >>> 24;
  frame[1] = length >>> 16;
  frame[2] = length >>> 8;
  frame[3] = length;
  return frame;
}

/** A decoder; by default with the bound for peers that are not authenticated yet. */
export function frameDecoder(maxBytes: number = CODEC_LIMITS.frameBytesBeforeAuth): FrameDecoder {
  const held = byteBuffer();
  /** Bytes of the body that is awaited; undefined while the header is. */
  let body: number | undefined;
  let closed = false;

  /** Reads a header; a fault where no frame can follow. */
  function open(bytes: Uint8Array, at: number): FrameItem | undefined {
    const length = lengthIn(bytes, at);
    if (length > 0 && length <= decoder.maxBytes) {
      body = length;
      return undefined;
    }
    closed = true;
    return { ok: false, fault: (length === 0 ? emptyFault() : tooLarge(length, decoder.maxBytes)).report() };
  }

  function unit(bytes: Uint8Array): FrameItem | undefined {
    if (body === undefined) return open(bytes, 0);
    body = undefined;
    return decode(bytes);
  }

  const decoder: FrameDecoder = {
    maxBytes,
    get closed() {
      return closed;
    },
    push(chunk) {
      const items: FrameItem[] = [];
      let from = 0;
      while (!closed && from < chunk.length) {
        // A header that is there as a whole is read in its place: a view of it would cost more than reading it.
        if (body === undefined && held.size === 0 && chunk.length - from >= HEADER_BYTES) {
          const refused = open(chunk, from);
          if (refused !== undefined) items.push(refused);
          from += HEADER_BYTES;
          continue;
        }
        const missing = (body ?? HEADER_BYTES) - held.size;
        const piece = chunk.subarray(from, from + missing);
        from += piece.length;
        if (piece.length < missing) {
          held.add(piece);
        } else {
          const item = unit(held.take(piece));
          if (item !== undefined) items.push(item);
        }
      }
      return items;
    },
    end() {
      if (closed || (held.size === 0 && body === undefined)) return undefined;
      return { ok: false, fault: cutFault().report() };
    },
  };
  return decoder;
}

function lengthIn(bytes: Uint8Array, at: number): number {
  const high = (bytes[at] ?? 0) * 2 ** 24 + ((bytes[at + 1] ?? 0) << 16);
  return high + ((bytes[at + 2] ?? 0) << 8) + (bytes[at + 3] ?? 0);
}

function decode(bytes: Uint8Array): FrameItem {
  try {
    return { ok: true, value: parseJson(utf8(bytes)) };
  } catch (thrown) {
    return { ok: false, fault: asFault(thrown).report() };
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch (thrown) {
    throw new Fault("BAD_REQUEST", "The frame is not UTF-8. Send UTF-8 only.", { cause: thrown });
  }
}

function cutFault(): Fault {
  return new Fault("BAD_REQUEST", "The stream ended inside a frame. Send the frame again on a new connection.");
}

function emptyFault(): Fault {
  return new Fault("BAD_REQUEST", "The frame is empty. Send a JSON value in every frame.");
}

function tooLarge(length: number, maxBytes: number): Fault {
  return new Fault(
    "PAYLOAD_TOO_LARGE",
    `The frame has ${length} bytes and the bound is ${maxBytes}. Send less, or in parts.`,
  );
}
