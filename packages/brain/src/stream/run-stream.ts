import type { ServerResponse } from "node:http";
import { Fault, HTTP_LIMITS, STREAM_LIMITS } from "@vidro/core";
import { encodeNdjson } from "@vidro/core/codec";
import type { RunHead } from "@vidro/core";
import { Wakeup } from "../run/wakeup.ts";
import type { Runs } from "../run/runs.ts";
import { isOpen } from "../stores/run-rules.ts";
import { feedFor, findFeed } from "./feed.ts";
import type { FeedEnding, Feed, FeedSource } from "./feed.ts";
import { turns } from "./fair-turns.ts";
import { bytesAfter, windowEnd, windowsOf } from "./entry-windows.ts";
import type { EntryWindow } from "./entry-windows.ts";

/** What to stream, from where, and to whose words. */
export interface RunStream extends FeedSource {
  readonly runs: Pick<Runs, "followInBatches" | "read" | "find">;
  /** The last `seq` that the follower has. */
  readonly after: number;
  /** Aborted when nothing more is to be sent: the stream ends without a last event, and can be taken up elsewhere. */
  readonly signal: AbortSignal;
  readonly headers?: { readonly [name: string]: string };
  /** What this follower alone is told before the run. */
  readonly prelude?: string;
  /** How long a follower may leave what it was sent unread. */
  readonly drainMs?: number;
}

/**
 * Writes a run to a response until the run or the connection is over. A follower that does not read is fed no more,
 * and cut off when that lasts; nobody else notices. One that has seen the end of the run already gets a 204, which
 * tells browsers not to come again.
 */
export async function streamRun(response: ServerResponse, what: RunStream): Promise<void> {
  const head = await what.runs.find(what.run);
  if (!isOpen(head.status) && what.after === head.seq) {
    response.writeHead(204, { "x-run-id": what.run }).end();
    return;
  }
  await new Follower(response, what, head).follow();
}

/** How a server says that it goes away: no reader of events hears a comment, and lines have a status for it. */
function goingAway(contentType: string, run: string): string {
  // Not the same for all: those who were sent away together do not come back together.
  const retryAfterMs = Math.round(HTTP_LIMITS.returnMs * (0.5 + Math.random()));
  if (contentType.startsWith("text/event-stream")) return `: going away\nretry: ${retryAfterMs}\n\n`;
  const message = "The brain is going away; the run goes on, and can be followed again in a moment.";
  const about = { timestamp: Date.now(), run_id: run, requestId: run };
  return encodeNdjson({ type: "status", message, going_away: true, retry_after_ms: retryAfterMs, ...about });
}

/** What a response says of itself that a follower has to look at. */
const RINGING = ["drain", "finish", "close", "error"] as const;

/** One open response. */
class Follower {
  readonly #response: ServerResponse;
  readonly #what: RunStream;
  /** Rung when there is more, when the response has drained, and when it is over. */
  readonly #bell = new Wakeup();
  readonly #drainMs: number;
  /** Where the run stood when it was last looked at; looked at anew once it was used. */
  #head: RunHead | undefined;
  #seq: number;
  #silence: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, what: RunStream, head: RunHead) {
    this.#response = response;
    this.#what = what;
    this.#head = head;
    this.#seq = what.after;
    this.#drainMs = what.drainMs ?? STREAM_LIMITS.drainMs;
  }

  async follow(): Promise<void> {
    const { signal, encoder } = this.#what;
    const ring = (): void => this.#bell.wake();
    for (const event of RINGING) this.#response.on(event, ring);
    signal.addEventListener("abort", ring);
    try {
      this.#begin();
      this.#silence = setTimeout(() => this.#beat(), encoder.heartbeatMs);
      const ending = await this.#feed();
      clearTimeout(this.#silence);
      if (!this.#response.destroyed) await (ending === undefined ? this.#leave() : this.#end(ending));
    } finally {
      clearTimeout(this.#silence);
      signal.removeEventListener("abort", ring);
      for (const event of RINGING) this.#response.off(event, ring);
    }
  }

  #begin(): void {
    const { encoder, run, headers, prelude = "" } = this.#what;
    this.#response.writeHead(200, {
      "content-type": encoder.contentType,
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
      vary: "Accept",
      "x-run-id": run,
      ...encoder.headers,
      ...headers,
    });
    let words = (encoder.begin?.(run) ?? "") + prelude;
    if (this.#seq > (this.#head?.seq ?? 0)) {
      // The cursor is of another life of this run, so everything is new.
      words += encoder.resync?.(run, 1) ?? "";
      this.#seq = 0;
    }
    if (words === "") this.#response.flushHeaders();
    else this.#response.write(words);
  }

  /** Feeds the response until the run or the connection is over; a follower that does not read holds no feed. */
  async #feed(): Promise<FeedEnding | undefined> {
    while (!this.#isOver()) {
      const window = await this.#window();
      const ending = window === undefined ? await this.#join() : await this.#catchUp(window);
      if (ending !== undefined) return ending;
      if (this.#isFull()) await this.#until(() => !this.#isFull());
    }
    return undefined;
  }

  /** The window that this follower goes on with: none when it can go on with the others, or is nearly with them. */
  async #window(): Promise<EntryWindow | undefined> {
    const { encoder, runs, run } = this.#what;
    if (encoder.isShared !== true || findFeed(this.#what, this.#seq) !== undefined) return undefined;
    const head = this.#head ?? (await runs.find(run));
    this.#head = undefined;
    const isWhole = isOpen(head.status) ? windowEnd(this.#seq) <= head.seq : this.#seq < head.seq;
    return isWhole ? windowsOf(runs).after(this.#what, this.#seq) : undefined;
  }

  /** Writes what this follower lacks of a window, as far as it reads. */
  async #catchUp({ slices, last }: EntryWindow): Promise<FeedEnding | undefined> {
    for (const slice of slices) {
      if (slice.seq <= this.#seq) continue;
      await turns.take(slice.bytes.length);
      if (this.#isOver() || this.#isFull()) return undefined;
      this.#response.write(bytesAfter(slice, this.#seq));
      this.#silence?.refresh();
      this.#seq = slice.seq;
    }
    return last === undefined ? undefined : { last };
  }

  async #join(): Promise<FeedEnding | undefined> {
    const feed = feedFor(this.#what, this.#seq);
    feed.join(this.#bell);
    try {
      return await this.#take(feed);
    } finally {
      feed.leave(this.#bell);
    }
  }

  /** Writes what a feed has until it ends, has moved on without us, or is better taken from another one. */
  async #take(feed: Feed): Promise<FeedEnding | undefined> {
    let place = feed.placeOf(this.#seq);
    while (!this.#isOver()) {
      if (this.#isFull()) return this.#what.encoder.isShared === true ? undefined : this.#takeLast(feed, place);
      const taken = feed.take(place);
      if (taken === undefined) return undefined;
      this.#seq = taken.seq;
      if (taken.place > place) {
        place = taken.place;
        await turns.take(taken.bytes.length);
        if (this.#isOver()) return undefined;
        this.#response.write(taken.bytes);
        this.#silence?.refresh();
        // The end, also for a follower that has yet to read what was written to it.
        if (taken.last !== undefined) return { last: taken.last };
        continue;
      }
      if (feed.ending !== undefined) return feed.ending;
      if (feedFor(this.#what, this.#seq) !== feed) return undefined;
      await this.#bell.wait();
    }
    return undefined;
  }

  /** Leaves a feed of its own without losing a word: an encoder that knows what it has said says nothing twice. */
  #takeLast(feed: Feed, place: number): FeedEnding | undefined {
    const taken = feed.take(place);
    feed.leave(this.#bell);
    if (taken === undefined) return undefined;
    this.#seq = taken.seq;
    this.#response.write(taken.bytes);
    return taken.last === undefined ? undefined : { last: taken.last };
  }

  #isOver(): boolean {
    return this.#response.destroyed || this.#what.signal.aborted;
  }

  #isFull(): boolean {
    return this.#response.writableLength > STREAM_LIMITS.unsentBytes;
  }

  #beat(): void {
    const { encoder, run } = this.#what;
    const { heartbeat } = encoder;
    if (!this.#isFull() && !this.#response.destroyed)
      this.#response.write(typeof heartbeat === "string" ? heartbeat : heartbeat(run));
    this.#silence?.refresh();
  }

  async #end(ending: FeedEnding): Promise<void> {
    const { encoder, run } = this.#what;
    if ("thrown" in ending && !(ending.thrown instanceof Fault)) throw ending.thrown;
    const words =
      "last" in ending ? encoder.end?.(ending.last) : encoder.fault?.((ending.thrown as Fault).report(), run);
    await this.#say(words);
  }

  /** The brain or the client's right ends and the run does not; a wire with last words of its own says those. */
  async #leave(): Promise<void> {
    const { encoder, run, signal } = this.#what;
    const why: unknown = signal.reason;
    if (why instanceof Fault) return this.#say(encoder.fault?.(why.report(), run));
    await this.#say(encoder.end === undefined ? goingAway(encoder.contentType, run) : encoder.end(undefined));
  }

  async #say(lastWords = ""): Promise<void> {
    this.#response.end(lastWords);
    await this.#until(() => this.#response.writableFinished);
  }

  /** Waits for the other side to read, or cuts it off. */
  async #until(isRead: () => boolean): Promise<void> {
    const timer = setTimeout(() => this.#response.destroy(), this.#drainMs);
    while (!isRead() && !this.#response.destroyed) await this.#bell.wait();
    clearTimeout(timer);
  }
}
