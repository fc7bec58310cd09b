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

/** The run to stream, from where, and with which encoder. */
export interface RunStream extends FeedSource {
  readonly runs: Pick<Runs, "followInBatches" | "read" | "find">;
  /** The last `seq` that the follower has. */
  readonly after: number;
  /** Aborted when nothing more is to be sent: the stream ends without a terminal event and can be resumed elsewhere. */
  readonly signal: AbortSignal;
  readonly headers?: { readonly [name: string]: string };
  /** Text for this follower alone, before the run. */
  readonly prelude?: string;
  /** How long a follower may leave sent bytes unread. */
  readonly drainMs?: number;
}

/**
 * Writes a run to a response until the run or the connection is over. A follower that does not read gets no more bytes
 * and is cut off after `drainMs`, without effect on others. One whose cursor is at the terminal entry gets a 204, which
 * tells browsers not to reconnect.
 */
export async function streamRun(response: ServerResponse, what: RunStream): Promise<void> {
  const head = await what.runs.find(what.run);
  if (!isOpen(head.status) && what.after === head.seq) {
    response.writeHead(204, { "x-run-id": what.run }).end();
    return;
  }
  await new Follower(response, what, head).follow();
}

/**
 * Tells a follower to come back later: a comment with a retry time in SSE, which programs ignore; a status line in
 * NDJSON.
 */
function goingAway(contentType: string, run: string): string {
  // Random, so that followers of one server do not reconnect all at once.
  const retryAfterMs = Math.round(HTTP_LIMITS.returnMs * (0.5 + Math.random()));
  if (contentType.startsWith("text/event-stream")) return `: going away\nretry: ${retryAfterMs}\n\n`;
  const message = "The brain is going away; the run goes on, and can be followed again in a moment.";
  const about = { timestamp: Date.now(), run_id: run, requestId: run };
  return encodeNdjson({ type: "status", message, going_away: true, retry_after_ms: retryAfterMs, ...about });
}

/** Events of a response after which a follower looks at it again. */
const WAKING_EVENTS = ["drain", "finish", "close", "error"] as const;

/** Writes one run to one response. */
class Follower {
  readonly #response: ServerResponse;
  readonly #what: RunStream;
  /** Woken when there is more, when the response has drained, and when it is over. */
  readonly #wakeup = new Wakeup();
  readonly #drainMs: number;
  /** Head of the run as it was last read; dropped after one use. */
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
    const wake = (): void => this.#wakeup.wake();
    for (const event of WAKING_EVENTS) this.#response.on(event, wake);
    signal.addEventListener("abort", wake);
    try {
      this.#begin();
      this.#silence = setTimeout(() => this.#beat(), encoder.heartbeatMs);
      const ending = await this.#feed();
      clearTimeout(this.#silence);
      if (!this.#response.destroyed) await (ending === undefined ? this.#leave() : this.#end(ending));
    } finally {
      clearTimeout(this.#silence);
      signal.removeEventListener("abort", wake);
      for (const event of WAKING_EVENTS) this.#response.off(event, wake);
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
      // The cursor is beyond the run: the store was replaced, so the run is sent from its start.
      words += encoder.resync?.(run, 1) ?? "";
      this.#seq = 0;
    }
    if (words === "") this.#response.flushHeaders();
    else this.#response.write(words);
  }

  /** Feeds the response until the run or the connection is over; a follower that does not read leaves its feed. */
  async #feed(): Promise<FeedEnding | undefined> {
    while (!this.#isOver()) {
      const window = await this.#window();
      const ending = window === undefined ? await this.#join() : await this.#catchUp(window);
      if (ending !== undefined) return ending;
      if (this.#isFull()) await this.#until(() => !this.#isFull());
    }
    return undefined;
  }

  /** The next window of this follower; none when an open feed covers its cursor, or the window is not complete yet. */
  async #window(): Promise<EntryWindow | undefined> {
    const { encoder, runs, run } = this.#what;
    if (encoder.isShared !== true || findFeed(this.#what, this.#seq) !== undefined) return undefined;
    const head = this.#head ?? (await runs.find(run));
    this.#head = undefined;
    const isWhole = isOpen(head.status) ? windowEnd(this.#seq) <= head.seq : this.#seq < head.seq;
    return isWhole ? windowsOf(runs).after(this.#what, this.#seq) : undefined;
  }

  /** Writes the rest of a window, until the response is full. */
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
    feed.join(this.#wakeup);
    try {
      return await this.#take(feed);
    } finally {
      feed.leave(this.#wakeup);
    }
  }

  /** Writes from a feed until it ends, has dropped our position, or an older feed covers it too. */
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
        // The stream is complete, even if the follower has not read it all yet.
        if (taken.last !== undefined) return { last: taken.last };
        continue;
      }
      if (feed.ending !== undefined) return feed.ending;
      if (feedFor(this.#what, this.#seq) !== feed) return undefined;
      await this.#wakeup.wait();
    }
    return undefined;
  }

  /** Takes the last bytes before leaving a feed that is not shared: its encoder has state and repeats nothing. */
  #takeLast(feed: Feed, place: number): FeedEnding | undefined {
    const taken = feed.take(place);
    feed.leave(this.#wakeup);
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

  /** Ends a stream whose run goes on: the brain stops, or the client's token is no longer valid. */
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

  /** Waits until the client has read, or cuts it off. */
  async #until(isRead: () => boolean): Promise<void> {
    const timer = setTimeout(() => this.#response.destroy(), this.#drainMs);
    while (!isRead() && !this.#response.destroyed) await this.#wakeup.wait();
    clearTimeout(timer);
  }
}
