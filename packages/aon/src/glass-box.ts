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

/** A glass box: every event goes out as it happens, as far as the reader keeps up. */
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
  /** What those who emit wait for while the reader does not keep up. */
  #keepsUp: Deferred<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(sink: Sink, encoder: Encoder, bounds: GlassBounds) {
    this.#sink = sink;
    this.#encoder = encoder;
    this.#bounds = bounds;
    const stop = (): void => this.leave();
    sink.watch({ drained: () => this.#drained(), finished: stop, gone: stop });
  }

  open(): void {
    if (this.isOpen || this.isOver) return;
    this.isOpen = true;
    this.#sink.open(HEADERS);
    this.#heartbeat = setTimeout(() => this.#beat(), this.#bounds.heartbeatMs);
    this.#tell({ type: "status", message: "The request is accepted." });
  }

  async emit(event: ProgressEvent): Promise<void> {
    // A route that goes on telling in a loop has to let others work, or it would never learn that nobody listens.
    if (this.isOver) return new Promise((resolve) => setTimeout(resolve, 0));
    this.open();
    // Once one was dropped the next are, too, up to the marker: else it would stand in the wrong place.
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

  /** A reader that does not keep up gets no heartbeat: it has enough to read. */
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

  #drained(): void {
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

  /** Says that events are missing at this place. */
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
