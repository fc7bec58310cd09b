import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/*
 * A wire that misbehaves: everything passes through it unchanged until it is told to cut, to stall or to be slow.
 * It knows nothing of what it carries.
 */

/** Which way bytes go: up from the end that dials, down from the end that listens. */
export type Direction = "up" | "down";

/** A connection through the proxy. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** The wire, and what can be done to it. */
export class FaultProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  readonly #pairs = new Set<Pair>();
  readonly #passed: Record<Direction, number> = { up: 0, down: 0 };
  readonly #stalled = new Set<Direction>();
  #cut: { readonly direction: Direction; readonly after: number } | undefined;
  #refusing = false;
  #pieceBytes = Number.POSITIVE_INFINITY;
  /** Connections that were made. */
  connections = 0;

  constructor(target: { readonly host?: string; readonly port: number }) {
    this.#target = { host: target.host ?? "127.0.0.1", port: target.port };
    this.#server.on("connection", (near) => this.#join(near));
  }

  /** Listens on a free port of this machine. */
  async open(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  /** Where to dial. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Bytes that have passed, since the last `cutAfter`. */
  passed(direction: Direction): number {
    return this.#passed[direction];
  }

  /** Resets the connection after this many more bytes; what comes after that passes again. */
  cutAfter(direction: Direction, bytes: number): void {
    this.#passed.up = 0;
    this.#passed.down = 0;
    this.#cut = { direction, after: bytes };
  }

  /** Swallows what goes that way, with the connections left open: a link that is half dead. */
  stall(...directions: readonly Direction[]): void {
    for (const direction of directions) this.#stalled.add(direction);
  }

  /** Passes bytes in pieces of at most so many, each written by itself. */
  split(pieceBytes: number): void {
    this.#pieceBytes = pieceBytes;
  }

  /** Refuses new connections and resets those there are. */
  sever(): void {
    this.#refusing = true;
    for (const pair of this.#pairs) reset(pair);
  }

  /** Everything passes again; what was swallowed is lost, so stalled connections are reset. */
  heal(): void {
    const wasStalled = this.#stalled.size > 0;
    this.#refusing = false;
    this.#cut = undefined;
    this.#stalled.clear();
    if (wasStalled) for (const pair of this.#pairs) reset(pair);
  }

  /** Ends the wire. */
  async close(): Promise<void> {
    for (const pair of this.#pairs) reset(pair);
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket): void {
    if (this.#refusing) {
      near.resetAndDestroy();
      return;
    }
    this.connections += 1;
    const far = connect({ ...this.#target, allowHalfOpen: true });
    const pair = { near, far };
    this.#pairs.add(pair);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      // A peer that is gone is what this wire is for.
      socket.on("error", () => reset(pair));
      socket.once("close", () => this.#pairs.delete(pair) && reset(pair));
    }
    this.#carry("up", pair, [near, far]);
    this.#carry("down", pair, [far, near]);
    far.once("connect", () => near.resume());
  }

  #carry(direction: Direction, pair: Pair, [from, to]: readonly [Socket, Socket]): void {
    from.on("data", (bytes: Buffer) => {
      if (this.#stalled.has(direction)) return;
      const left = this.#cut?.direction === direction ? this.#cut.after - this.#passed[direction] : bytes.length;
      const passing = bytes.subarray(0, Math.min(left, bytes.length));
      this.#passed[direction] += passing.length;
      if (passing.length < bytes.length || left === 0) {
        this.#cut = undefined;
        // What was let through has to arrive before the reset overtakes it.
        to.write(passing, () => reset(pair));
        return;
      }
      for (let at = 0; at < passing.length; at += this.#pieceBytes)
        to.write(passing.subarray(at, Math.min(passing.length, at + this.#pieceBytes)));
      if (to.writableNeedDrain) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    });
    from.once("end", () => {
      if (!this.#stalled.has(direction)) to.end();
    });
  }
}

function reset({ near, far }: Pair): void {
  near.resetAndDestroy();
  far.resetAndDestroy();
}
