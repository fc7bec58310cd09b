import { createHash } from "node:crypto";
import { StringDecoder } from "node:string_decoder";
import { HAND_LIMITS, type Output } from "@vidro/core";

/** Captures one stream of a process: keeps its beginning and end, counts and hashes all of it. */
export class OutputCapture {
  readonly #hash = createHash("sha256");
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  /** Ring buffer for the end, allocated when the head is full: most outputs never need it. */
  #tail: Buffer | undefined;
  #tailBytes = 0;
  #bytes = 0;

  /** Adds the next bytes. */
  take(chunk: Buffer): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    const forHead = Math.min(chunk.length, HAND_LIMITS.headBytes - this.#headBytes);
    if (forHead > 0) {
      // Copied, because a slice would keep the whole read buffer alive: 64 KiB for a chunk of one byte.
      this.#head.push(Buffer.from(chunk.subarray(0, forHead)));
      this.#headBytes += forHead;
      if (this.#head.length > MAX_PIECES) this.#head.splice(0, this.#head.length, Buffer.concat(this.#head));
    }
    if (forHead < chunk.length) this.#takeTail(chunk.subarray(forHead));
  }

  /** The output for the outcome; no bytes may be added afterwards. */
  finish(): Output {
    const truncated = this.#bytes > HAND_LIMITS.headBytes + HAND_LIMITS.tailBytes;
    const head = Buffer.concat(this.#head);
    const tail = this.#tailInOrder();
    const leftOut = this.#bytes - head.length - tail.length;
    const text = truncated
      ? `${trimPartialCharacter(head).toString("utf8")}\n[… ${leftOut} bytes left out …]\n${trimPartialStart(tail).toString("utf8")}`
      : Buffer.concat([head, tail]).toString("utf8");
    return { text, bytes: this.#bytes, truncated, sha256: this.#hash.digest("hex") };
  }

  #takeTail(bytes: Buffer): void {
    this.#tail ??= Buffer.allocUnsafe(HAND_LIMITS.tailBytes);
    const last = bytes.subarray(-HAND_LIMITS.tailBytes);
    const at = (this.#tailBytes + bytes.length - last.length) % HAND_LIMITS.tailBytes;
    const first = Math.min(last.length, HAND_LIMITS.tailBytes - at);
    last.copy(this.#tail, at, 0, first);
    last.copy(this.#tail, 0, first);
    this.#tailBytes += bytes.length;
  }

  #tailInOrder(): Buffer {
    if (this.#tail === undefined) return Buffer.alloc(0);
    if (this.#tailBytes <= HAND_LIMITS.tailBytes) return this.#tail.subarray(0, this.#tailBytes);
    const start = this.#tailBytes % HAND_LIMITS.tailBytes;
    return Buffer.concat([this.#tail.subarray(start), this.#tail.subarray(0, start)]);
  }
}

/** Number of head chunks before they are joined, so that single-byte chunks do not cost an object each. */
const MAX_PIECES = 256;

/** Live output of an action: whole characters only, at most HAND_LIMITS.liveBytesPerSecond. */
export class LiveOutput {
  readonly #tell: (stream: "stdout" | "stderr", chunk: string) => void;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #second = 0;
  #left: number = HAND_LIMITS.liveBytesPerSecond;
  #dropped = 0;

  constructor(tell: (stream: "stdout" | "stderr", chunk: string) => void) {
    this.#tell = tell;
  }

  /** Sends the next bytes, or drops them when the limit of this second is used up. */
  take(stream: "stdout" | "stderr", chunk: Buffer): void {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#left = HAND_LIMITS.liveBytesPerSecond;
      this.#tellDropped(stream);
    }
    if (chunk.length > this.#left) {
      this.#left = 0;
      this.#dropped += chunk.length;
      this.#decoders[stream] = new StringDecoder("utf8");
      return;
    }
    this.#left -= chunk.length;
    const text = this.#decoders[stream].write(chunk);
    if (text !== "") this.#tell(stream, text);
  }

  /** Sends incomplete characters and a note about dropped bytes. */
  finish(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const text = this.#decoders[stream].end();
      if (text !== "") this.#tell(stream, text);
    }
    this.#tellDropped("stdout");
  }

  #tellDropped(stream: "stdout" | "stderr"): void {
    if (this.#dropped > 0) this.#tell(stream, `\n[… ${this.#dropped} bytes not shown live …]\n`);
    this.#dropped = 0;
  }
}

/** Removes a character that is cut off at the end. */
export function trimPartialCharacter(bytes: Buffer): Buffer {
  const lead = bytes.subarray(-3).findLastIndex((byte) => byte >= 0xc0);
  if (lead === -1) return bytes;
  const at = Math.max(bytes.length - 3, 0) + lead;
  const first = bytes[at] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return at + length > bytes.length ? bytes.subarray(0, at) : bytes;
}

/** Removes the rest of a character that is cut off at the start. */
function trimPartialStart(bytes: Buffer): Buffer {
  let at = 0;
  while (at < 3 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return bytes.subarray(at);
}
