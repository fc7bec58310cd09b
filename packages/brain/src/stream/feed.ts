import { isTerminal, STREAM_LIMITS } from "@vidro/core";
import type { TerminalEvent } from "@vidro/core";
import type { Wakeup } from "../run/wakeup.ts";
import type { FollowItem } from "../run/follow.ts";
import type { Runs } from "../run/runs.ts";
import type { RunEncoder } from "./run-encoder.ts";

/*
 * One reader of a run for all its followers with the same encoder: each entry is read once, encoded once and turned
 * into bytes once. Followers hold a position in a bounded buffer; one that falls out of it, or comes with an older
 * cursor, catches up by cached windows (`entry-windows.ts`) or by a feed of its own, and then joins the others.
 */

/** The run that a feed reads, and its encoder. */
export interface FeedSource {
  readonly runs: Pick<Runs, "followInBatches">;
  readonly run: string;
  readonly encoder: RunEncoder;
}

/**
 * Why a feed ended: with the terminal event of the run, without one when the run is open and undriven, or by a fault.
 */
export type FeedEnding = { readonly last: TerminalEvent | undefined } | { readonly thrown: unknown };

/** New bytes for a follower, the position behind them, and the last entry that they include. */
interface FeedBatch {
  readonly bytes: Buffer;
  readonly place: number;
  readonly seq: number;
  /** The terminal event, when that entry has it: nothing more will come. */
  readonly last: TerminalEvent | undefined;
}

interface Piece {
  readonly text: string;
  /** `seq` of the entry; undefined for a live event. */
  readonly seq: number | undefined;
}

const NOTHING = Buffer.alloc(0);
const OPEN = new WeakMap<FeedSource["runs"], Map<string, Feed[]>>();

/** The oldest open feed that can serve a follower with all entries up to `seq`, if there is one. */
export function findFeed(source: FeedSource, seq: number): Feed | undefined {
  const feeds = OPEN.get(source.runs)?.get(source.run);
  return feeds?.find((feed) => feed.encoder === source.encoder && feed.covers(seq));
}

/** A feed that can serve a follower with all entries up to `seq`: the oldest open one, or a new one. */
export function feedFor(source: FeedSource, seq: number): Feed {
  const known = findFeed(source, seq);
  if (known !== undefined) return known;
  const byRun = OPEN.get(source.runs) ?? new Map<string, Feed[]>();
  OPEN.set(source.runs, byRun);
  const feeds = byRun.get(source.run) ?? [];
  const feed = new Feed(source, seq, () => {
    feeds.splice(feeds.indexOf(feed), 1);
    if (feeds.length === 0) byRun.delete(source.run);
  });
  feeds.push(feed);
  byRun.set(source.run, feeds);
  return feed;
}

/** A shared reader of one run; it reads while a follower wants more, and ends with its last follower. */
export class Feed {
  readonly encoder: RunEncoder;
  readonly #source: FeedSource;
  readonly #gone: () => void;
  readonly #followers = new Set<Wakeup>();
  readonly #stop = new AbortController();
  readonly #pieces: Piece[] = [];
  /** Number of pieces dropped from the buffer. */
  #dropped = 0;
  #chars = 0;
  /** Number of pieces at the end that no follower has taken yet, and their characters. */
  #fresh = 0;
  #freshChars = 0;
  /** Every entry after this `seq` is in the buffer, or not read yet. */
  #oldest: number;
  #seq: number;
  #last: TerminalEvent | undefined;
  #ending: FeedEnding | undefined;
  /** The bytes that were taken last; the next follower is most likely at the same position. */
  #shared: { readonly from: number; readonly to: number; readonly bytes: Buffer } | undefined;
  #isFlushing = false;
  #flushedAt = -Infinity;
  #rush: NodeJS.Immediate | undefined;
  #goOn: (() => void) | undefined;

  constructor(source: FeedSource, after: number, gone: () => void) {
    this.encoder = source.encoder;
    this.#source = source;
    this.#gone = gone;
    this.#oldest = after;
    this.#seq = after;
    void this.#read();
  }

  /** Set once nothing more will come. */
  get ending(): FeedEnding | undefined {
    return this.#ending;
  }

  /** Whether a follower with all entries up to `seq` can continue with this feed. */
  covers(seq: number): boolean {
    const broken = this.#ending !== undefined && !("last" in this.#ending && this.#ending.last !== undefined);
    return seq >= this.#oldest && seq <= this.#seq && !broken;
  }

  /** Wakes the follower when there is more, until it leaves. */
  join(follower: Wakeup): void {
    this.#followers.add(follower);
  }

  /** Removes a follower; the last one ends the feed. */
  leave(follower: Wakeup): void {
    if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
    clearImmediate(this.#rush);
    this.#gone();
    this.#stop.abort();
    this.#goOn?.();
  }

  /** Position of a follower with all entries up to `seq`; live events before it are not repeated. */
  placeOf(seq: number): number {
    const next = this.#pieces.findIndex((piece) => piece.seq !== undefined && piece.seq > seq);
    return this.#dropped + (next === -1 ? this.#pieces.length : next);
  }

  /** All pieces after a position; undefined when some of them were dropped. */
  take(place: number): FeedBatch | undefined {
    if (place < this.#dropped) return undefined;
    const to = this.#dropped + this.#pieces.length;
    const known = { place: to, seq: this.#seq, last: this.#last };
    // A follower at the end has taken everything too; the feed must not wait for slower ones.
    this.#fresh = 0;
    this.#freshChars = 0;
    this.#goOn?.();
    if (place === to) return { ...known, bytes: NOTHING };
    if (this.#shared?.from !== place || this.#shared.to !== to) {
      let text = "";
      for (let at = place - this.#dropped; at < this.#pieces.length; at += 1) text += this.#pieces[at]!.text;
      this.#shared = { from: place, to, bytes: Buffer.from(text) };
    }
    return { ...known, bytes: this.#shared.bytes };
  }

  async #read(): Promise<void> {
    const { runs, run } = this.#source;
    try {
      for await (const batch of runs.followInBatches(run, this.#seq, this.#stop.signal)) {
        for (const followed of batch) {
          if (this.#stop.signal.aborted) return;
          this.#add(followed);
          if (this.#fresh < STREAM_LIMITS.batchPieces && this.#freshChars < STREAM_LIMITS.batchChars) continue;
          this.#flush();
          await this.#whenTaken();
        }
      }
      this.#ending = { last: this.#last };
    } catch (thrown) {
      this.#ending = { thrown };
    }
    this.#flush();
  }

  #add(followed: FollowItem): void {
    const text = "entry" in followed ? this.#entryText(followed) : this.#liveText(followed);
    if ("entry" in followed) {
      this.#seq = followed.entry.seq;
      if (isTerminal(followed.entry.event)) this.#last = followed.entry.event;
    }
    if (text === undefined) return;
    this.#pieces.push({ text, seq: "entry" in followed ? followed.entry.seq : undefined });
    this.#chars += text.length;
    this.#fresh += 1;
    this.#freshChars += text.length;
    this.#trim();
    this.#flushSoon("live" in followed);
  }

  /**
   * Entries of one read are written together, and entries in quick succession are gathered for a moment: a write costs
   * more than an entry. Live events are written at once, since a person may read along.
   */
  #flushSoon(isLive: boolean): void {
    if (this.#isFlushing) return;
    if (!isLive && this.#isRush()) {
      if (this.#rush === undefined) this.#flushAfter(STREAM_LIMITS.rushTurns);
      return;
    }
    this.#isFlushing = true;
    // After all promise callbacks that are ready now.
    process.nextTick(() => this.#flush());
  }

  #flushAfter(turns: number): void {
    this.#rush = setImmediate(() => (turns > 1 && this.#isRush() ? this.#flushAfter(turns - 1) : this.#flush()));
  }

  #isRush(): boolean {
    return performance.now() - this.#flushedAt < STREAM_LIMITS.rushMs;
  }

  #flush(): void {
    clearImmediate(this.#rush);
    this.#rush = undefined;
    this.#isFlushing = false;
    this.#flushedAt = performance.now();
    for (const follower of this.#followers) follower.wake();
  }

  #entryText({ entry }: Extract<FollowItem, { entry: unknown }>): string | undefined {
    const { encoder, run } = this.#source;
    const text = encoder.entry(entry, run);
    if (entry.seq <= this.#seq + 1) return text;
    // Entries in between are missing from the store: the follower is told of the gap.
    return `${encoder.resync?.(run, entry.seq) ?? ""}${text ?? ""}`;
  }

  #liveText({ live, after }: Extract<FollowItem, { live: unknown }>): string | undefined {
    return this.#source.encoder.live(live, after, this.#source.run);
  }

  /** Drops the oldest pieces, a batch at a time; pieces that no follower has taken are kept. */
  #trim(): void {
    const { windowPieces, windowChars, batchPieces, batchChars } = STREAM_LIMITS;
    if (this.#pieces.length <= windowPieces + batchPieces && this.#chars <= windowChars + batchChars) return;
    const most = this.#pieces.length - this.#fresh;
    let drop = 0;
    while (drop < most && (this.#pieces.length - drop > windowPieces || this.#chars > windowChars)) {
      const piece = this.#pieces[drop]!;
      this.#chars -= piece.text.length;
      this.#oldest = piece.seq ?? this.#oldest;
      drop += 1;
    }
    this.#pieces.splice(0, drop);
    this.#dropped += drop;
  }

  /**
   * Resolves when a follower has taken all pieces or none follows, and always in a later turn of the event loop, so
   * that reading a long run leaves time for other work.
   */
  #whenTaken(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = () => {
        this.#goOn = undefined;
        setImmediate(resolve);
      };
    });
  }
}
