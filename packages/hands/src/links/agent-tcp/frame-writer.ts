import type { Socket } from "node:net";
import { Fault, TCP_LIMITS } from "@vidro/core";
import type { TcpMessage } from "@vidro/core/wire/agent-tcp";

/** A message that waits to be sent, as JSON, with its length. */
interface Frame {
  readonly text: string;
  readonly bytes: number;
}

const HEADER_BYTES = 4;

/**
 * Writes frames to a connection: all frames of one turn of the event loop in one write. Records since when the client
 * does not read.
 */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #unsentBytes: number;
  #frames: Frame[] = [];
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
    this.#frames.push({ text, bytes });
    if (this.#frames.length === 1 && !this.#corked) process.nextTick(this.#flushLater);
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
    const frames = this.#frames;
    if (frames.length === 0 || this.#ended) return;
    this.#frames = [];
    const bytes = encodeFrames(frames);
    if (!this.#socket.write(bytes)) this.#since ??= performance.now();
  }
}

/** Encodes all frames into one buffer: one buffer per frame would cost more than the frames. */
function encodeFrames(frames: readonly Frame[]): Buffer {
  const bytes = Buffer.allocUnsafe(frames.reduce((sum, frame) => sum + HEADER_BYTES + frame.bytes, 0));
  let at = 0;
  for (const { text, bytes: length } of frames) {
    at = bytes.writeUInt32BE(length, at);
    at += bytes.write(text, at, length, "utf8");
  }
  return bytes;
}
