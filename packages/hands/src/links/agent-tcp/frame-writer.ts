import type { Socket } from "node:net";
import { Fault, TCP_LIMITS } from "@vidro/core";
import type { TcpMessage } from "@vidro/core/wire/agent-tcp";

/** A message that waits to be sent: JSON, and how many bytes it takes. */
interface Frame {
  readonly text: string;
  readonly bytes: number;
}

const HEADER_BYTES = 4;

/**
 * What goes out on a connection: all that is said in one turn of the event loop goes out in one write, and whoever
 * does not read is found out.
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

  /** Since when the peer has not read what was sent, as `performance.now()` tells time. */
  get blockedSince(): number | undefined {
    return this.#since;
  }

  /** Whether so much is unsent that nothing more is taken on. */
  get isFull(): boolean {
    return this.#socket.writableLength >= this.#unsentBytes;
  }

  /** Says something; PAYLOAD_TOO_LARGE when it is over the bound. */
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

  /** Keeps what is said while some work is done, and sends it when that returns. */
  writeTogether(work: () => void): void {
    this.#corked = true;
    try {
      work();
    } finally {
      this.#corked = false;
      this.#flush();
    }
  }

  /** Says nothing more: what was said goes out, then the connection is closed in this direction. */
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

/** All frames in one piece of the pool: a piece for each would cost more than what is in it. */
function encodeFrames(frames: readonly Frame[]): Buffer {
  const bytes = Buffer.allocUnsafe(frames.reduce((sum, frame) => sum + HEADER_BYTES + frame.bytes, 0));
  let at = 0;
  for (const { text, bytes: length } of frames) {
    at = bytes.writeUInt32BE(length, at);
    at += bytes.write(text, at, length, "utf8");
  }
  return bytes;
}
