import { deferred } from "@vidro/core";
import type { Deferred } from "@vidro/core";
import type { AonBox, Sink } from "./box.ts";
import type { Encoder } from "./encode.ts";
import type { ProgressEvent, TerminalAonEvent } from "./event.ts";
import { NDJSON_TYPE } from "./negotiate.ts";

/** Bounds of a glass box. */
export interface GlassBounds {
  readonly heartbeatMs: number;
  readonly drainMs: number;
  readonly heldEvents: number;
  readonly unsentBytes: number;
}

const HEADERS = {
  "Content-Type": NDJSON_TYPE,
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
  "X-Content-Type-Options": "nosniff",
} as const;

const utf8 = new TextEncoder();

/** A glass box: events are sent as they happen; a reader that is too slow loses some. */
export function glassBox(sink: Sink, encoder: Encoder, bounds: GlassBounds): AonBox {
  return new GlassBox(sink, encoder, bounds);
}

class GlassBox implements AonBox {
  isOpen = false;
  isOver = false;
  readonly #sink: Sink;
  readonly #encoder: Encoder;
  readonly #bounds: GlassBounds;
  /** Lines for a reader that does not keep up. */
  #waiting: string[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #isBlocked = false;
  /** Resolves when the reader has caught up; emit() awaits it. */
  #keepsUp: Deferred<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(sink: Sink, encoder: Encoder, bounds: GlassBounds) {
    this.#sink = sink;
    this.#encoder = encoder;
    this.#bounds = bounds;
    const stop = (): void => this.leave();
    sink.watch({ drained: () => this.#goOnAfterDrain(), finished: stop, gone: stop });
  }

  open(): void {
    if (this.isOpen || this.isOver) return;
    this.isOpen = true;
    this.#sink.open(HEADERS);
    this.#heartbeat = setTimeout(() => this.#beat(), this.#bounds.heartbeatMs);
    this.#tell({ type: "status", message: "The request is accepted." });
  }

  async emit(event: ProgressEvent): Promise<void> {
    // A route that emits in a loop must yield to the event loop, or it would never see that the client is gone.
    if (this.isOver) return new Promise((resolve) => setTimeout(resolve, 0));
    this.open();
    // After a dropped event all are dropped up to the marker, so that the marker is in the right position.
    const line = this.#dropped > 0 ? undefined : this.#encoder.encode(event).line;
    if (line === undefined || (this.#isBlocked && this.#isFull(line))) this.#dropped++;
    else this.#put(line);
    await this.#keepsUp?.promise;
  }

  finish(event: TerminalAonEvent): void {
    if (this.isOver) return;
    this.open();
    this.isOver = true;
    clearTimeout(this.#heartbeat);
    this.#mark();
    this.#tell(event);
    if (!this.#isBlocked) this.#end();
  }

  leave(): void {
    this.isOver = true;
    clearTimeout(this.#heartbeat);
    clearTimeout(this.#patience);
    this.#isBlocked = false;
    this.#waiting = [];
    this.#letGo();
  }

  #tell(event: ProgressEvent | TerminalAonEvent): void {
    this.#put(this.#encoder.encode(event).line);
  }

  #put(line: string): void {
    this.#heartbeat?.refresh();
    if (this.#isBlocked) {
      this.#waiting.push(line);
      this.#waitingBytes += utf8.encode(line).length;
    } else if (!this.#sink.write(line)) {
      this.#isBlocked = true;
      this.#keepsUp ??= deferred();
      this.#expectReader();
    }
  }

  #isFull(line: string): boolean {
    const { heldEvents, unsentBytes } = this.#bounds;
    return this.#waiting.length >= heldEvents || this.#waitingBytes + utf8.encode(line).length > unsentBytes;
  }

  /** Sends a heartbeat, unless the reader is behind and has enough to read. */
  #beat(): void {
    if (this.isOver) return;
    if (this.#isBlocked) this.#heartbeat?.refresh();
    else this.#tell({ type: "status", message: "Still working." });
  }

  #expectReader(): void {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => {
      this.leave();
      this.#sink.cut();
    }, this.#bounds.drainMs);
  }

  #goOnAfterDrain(): void {
    if (!this.#isBlocked) return;
    clearTimeout(this.#patience);
    this.#isBlocked = false;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const line of lines) this.#put(line);
    if (this.#isBlocked) return;
    if (this.isOver) this.#end();
    else this.#mark();
    if (!this.#isBlocked) this.#letGo();
  }

  /** Writes the marker for dropped events. */
  #mark(): void {
    const dropped = this.#dropped;
    if (dropped === 0) return;
    this.#dropped = 0;
    this.#tell({ type: "status", message: `The reader is slow: ${dropped} events are left out here.`, dropped });
  }

  #letGo(): void {
    this.#keepsUp?.resolve();
    this.#keepsUp = undefined;
  }

  #end(): void {
    this.#expectReader();
    this.#sink.end();
  }
}
