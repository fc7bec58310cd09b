import type { Socket } from "node:net";
import { Fault, TCP_LIMITS } from "@vidro/core";
import type { TcpMessage } from "@vidro/core/wire/agent-tcp";

const HEADER_BYTES = 4;

/**
 * Writes frames to a connection: all frames of one turn of the event loop in one write. Records since when the client
 * does not read.
 */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #unsentBytes: number;
  /** Messages that wait to be sent, as JSON, and the size of their frames. */
  #texts: string[] = [];
  #bytes = 0;
  #since: number | undefined;
  #ended = false;
  #corked = false;
  readonly #flushLater = (): void => this.#flush();

  constructor(socket: Socket, unsentBytes: number = TCP_LIMITS.unsentBytes) {
    this.#socket = socket;
    this.#unsentBytes = unsentBytes;
    socket.on("drain", () => (this.#since = undefined));
  }

  /** The `performance.now()` since which the client has not read what was sent. */
  get blockedSince(): number | undefined {
    return this.#since;
  }

  /** Whether too much is unsent to accept more requests. */
  get isFull(): boolean {
    return this.#socket.writableLength >= this.#unsentBytes;
  }

  /** Queues a message; throws PAYLOAD_TOO_LARGE if it is longer than `maxBytes`. */
  write(message: TcpMessage, maxBytes: number): void {
    if (this.#ended) return;
    const text = JSON.stringify(message);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxBytes)
      throw new Fault(
        "PAYLOAD_TOO_LARGE",
        `The answer has ${bytes} bytes and a frame takes ${maxBytes}. Ask for less.`,
      );
    this.#texts.push(text);
    this.#bytes += HEADER_BYTES + bytes;
    if (this.#texts.length === 1 && !this.#corked) process.nextTick(this.#flushLater);
  }

  /** Queues all messages of a function and sends them in one write when it returns. */
  writeTogether(work: () => void): void {
    this.#corked = true;
    try {
      work();
    } finally {
      this.#corked = false;
      this.#flush();
    }
  }

  /** Sends what is queued and closes this direction of the connection. */
  end(): void {
    if (this.#ended) return;
    this.#flush();
    this.#ended = true;
    this.#socket.end();
  }

  #flush(): void {
    const texts = this.#texts;
    if (texts.length === 0 || this.#ended) return;
    const bytes = encodeFrames(texts, this.#bytes);
    this.#texts = [];
    this.#bytes = 0;
    if (!this.#socket.write(bytes)) this.#since ??= performance.now();
  }
}

/** Encodes all frames into one buffer: one buffer per frame would cost more than the frames. */
function encodeFrames(texts: readonly string[], size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const text of texts) {
    const length = bytes.write(text, at + HEADER_BYTES);
    bytes.writeUInt32BE(length, at);
    at += HEADER_BYTES + length;
  }
  return bytes;
}
