import { isTerminal, STREAM_LIMITS } from "@vidro/core";
import type { TerminalEvent } from "@vidro/core";
import type { Wakeup } from "../run/wakeup.ts";
import type { FollowItem } from "../run/follow.ts";
import type { Runs } from "../run/runs.ts";
import type { RunEncoder } from "./run-encoder.ts";

/*
 * One reader of a run for everybody who follows it on the same wire: each entry is read once, encoded once and turned
 * into bytes once. Followers hold a place in a bounded window; one that falls out of it, or comes with an older cursor,
 * catches up by the windows that are kept (`windows.ts`), or by a feed of its own, and then joins the others.
 */

/** What a feed reads, and in whose words. */
export interface FeedSource {
  readonly runs: Pick<Runs, "followInBatches">;
  readonly run: string;
  readonly encoder: RunEncoder;
}

/** How a feed came to its end: with the last event of the run, or without it when nobody drives the run any more. */
export type FeedEnding = { readonly last: TerminalEvent | undefined } | { readonly thrown: unknown };

/** What is new for a follower, the place behind it, and the last entry that is now known to it. */
interface FeedBatch {
  readonly bytes: Buffer;
  readonly place: number;
  readonly seq: number;
  /** The last event of the run, when that entry is it: nothing more will come. */
  readonly last: TerminalEvent | undefined;
}

interface Piece {
  readonly text: string;
  /** The entry's own; undefined for what is live. */
  readonly seq: number | undefined;
}

const NOTHING = Buffer.alloc(0);
const OPEN = new WeakMap<FeedSource["runs"], Map<string, Feed[]>>();

/** The oldest feed on which somebody who has all entries up to `seq` can go on, if there is one. */
export function findFeed(source: FeedSource, seq: number): Feed | undefined {
  const feeds = OPEN.get(source.runs)?.get(source.run);
  return feeds?.find((feed) => feed.encoder === source.encoder && feed.covers(seq));
}

/** A feed on which somebody who has all entries up to `seq` can go on: the oldest there is, or a new one. */
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

/** A shared reader of one run; it reads while somebody follows and wants more, and is gone with its last follower. */
export class Feed {
  readonly encoder: RunEncoder;
  readonly #source: FeedSource;
  readonly #gone: () => void;
  readonly #followers = new Set<Wakeup>();
  readonly #stop = new AbortController();
  readonly #pieces: Piece[] = [];
  /** How many pieces have left the window. */
  #dropped = 0;
  #chars = 0;
  /** Pieces at the end that no follower has taken, and their characters. */
  #fresh = 0;
  #freshChars = 0;
  /** Every entry after this one is in the window, or yet to be read. */
  #oldest: number;
  #seq: number;
  #last: TerminalEvent | undefined;
  #ending: FeedEnding | undefined;
  /** What was last taken, since the next follower most likely stands at the same place. */
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

  /** Set when nothing more will come. */
  get ending(): FeedEnding | undefined {
    return this.#ending;
  }

  /** Whether somebody who has all entries up to `seq` can go on here. */
  covers(seq: number): boolean {
    const broken = this.#ending !== undefined && !("last" in this.#ending && this.#ending.last !== undefined);
    return seq >= this.#oldest && seq <= this.#seq && !broken;
  }

  /** Rings the bell when there is more, until it leaves. */
  join(bell: Wakeup): void {
    this.#followers.add(bell);
  }

  /** The last one to leave ends the feed. */
  leave(bell: Wakeup): void {
    if (!this.#followers.delete(bell) || this.#followers.size > 0) return;
    clearImmediate(this.#rush);
    this.#gone();
    this.#stop.abort();
    this.#goOn?.();
  }

  /** The place of somebody who has all entries up to `seq`; what was live before is not told again. */
  placeOf(seq: number): number {
    const next = this.#pieces.findIndex((piece) => piece.seq !== undefined && piece.seq > seq);
    return this.#dropped + (next === -1 ? this.#pieces.length : next);
  }

  /** All that comes after a place; undefined when the window has moved on beyond it. */
  take(place: number): FeedBatch | undefined {
    if (place < this.#dropped) return undefined;
    const to = this.#dropped + this.#pieces.length;
    const known = { place: to, seq: this.#seq, last: this.#last };
    // Whoever is at the end has taken all there is as well: the feed must not wait for others that may never come.
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
          await this.#taken();
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
   * What is read in one go is written in one go, and entries that rush in are gathered for a moment: a write costs more
   * than an entry. Words that are only live wait for nothing, since somebody reads along.
   */
  #flushSoon(isLive: boolean): void {
    if (this.#isFlushing) return;
    if (!isLive && this.#isRush()) {
      if (this.#rush === undefined) this.#flushAfter(STREAM_LIMITS.rushTurns);
      return;
    }
    this.#isFlushing = true;
    // After all promises that are ready now.
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
    for (const bell of this.#followers) bell.wake();
  }

  #entryText({ entry }: Extract<FollowItem, { entry: unknown }>): string | undefined {
    const { encoder, run } = this.#source;
    const text = encoder.entry(entry, run);
    if (entry.seq <= this.#seq + 1) return text;
    // The store has let go of what lies between: never a silent gap.
    return `${encoder.resync?.(run, entry.seq) ?? ""}${text ?? ""}`;
  }

  #liveText({ live, after }: Extract<FollowItem, { live: unknown }>): string | undefined {
    return this.#source.encoder.live(live, after, this.#source.run);
  }

  /** Drops what is oldest, a batch at a time, but nothing that no follower has taken. */
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
   * Resolves when a follower has taken what there is, or nobody follows; and always in another turn of the event loop,
   * so that a long run that many catch up with leaves room for everything else.
   */
  #taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#goOn = () => {
        this.#goOn = undefined;
        setImmediate(resolve);
      };
    });
  }
}
