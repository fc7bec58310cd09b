import { isTerminal, STREAM_LIMITS } from "@vidro/core";
import type { Entry, TerminalEvent } from "@vidro/core";
import type { Runs } from "../run/runs.ts";
import type { RunEncoder } from "./run-encoder.ts";
import { turns } from "./fair-turns.ts";

/*
 * Older entries of a run, for followers that catch up. Entries do not change, so a window of them is read and encoded
 * once, and its bytes are written to every follower, each at its own pace. Windows begin at the same entries for all
 * followers, so a thousand slow ones need the same few.
 */

/** The run that windows are read from, and their encoder. */
interface WindowSource {
  readonly runs: Pick<Runs, "read">;
  readonly run: string;
  readonly encoder: RunEncoder;
}

/** Some entries of a window in one piece of bytes. */
interface Slice {
  readonly bytes: Buffer;
  /** Its last entry. */
  readonly seq: number;
  /** The entries that the encoder has text for, and the byte at which each begins. */
  readonly rows: readonly { readonly seq: number; readonly from: number }[];
}

/** An encoded part of a run that will not grow. */
export interface EntryWindow {
  readonly slices: readonly Slice[];
  /** Memory that it takes. */
  readonly bytes: number;
  /** The terminal event of the run, when the window ends with it. */
  readonly last: TerminalEvent | undefined;
}

/** The last entry of the window that holds what comes after `seq`. */
export function windowEnd(seq: number): number {
  return windowStart(seq) + STREAM_LIMITS.windowEntries;
}

/** The bytes of a slice for the entries after `seq`. */
export function bytesAfter({ bytes, rows }: Slice, seq: number): Buffer {
  const row = rows.find((one) => one.seq > seq);
  return row === undefined ? bytes.subarray(bytes.length) : bytes.subarray(row.from);
}

function windowStart(seq: number): number {
  return seq - (seq % STREAM_LIMITS.windowEntries);
}

const OF = new WeakMap<WindowSource["runs"], EntryWindows>();

/** The windows of a brain's runs. */
export function windowsOf(runs: WindowSource["runs"]): EntryWindows {
  const windows = OF.get(runs) ?? new EntryWindows();
  OF.set(runs, windows);
  return windows;
}

/** Least-recently-used cache of windows, bounded by bytes. */
class EntryWindows {
  readonly #encoders = new WeakMap<RunEncoder, number>();
  /** Least recently used first. */
  readonly #kept = new Map<string, { readonly window: Promise<EntryWindow | undefined>; bytes: number }>();
  #named = 0;
  #bytes = 0;

  /** The window that holds what comes after `seq`; undefined when it is not whole yet or cannot be read. */
  after(source: WindowSource, seq: number): Promise<EntryWindow | undefined> {
    const start = windowStart(seq);
    const key = `${this.#numberOf(source.encoder)} ${start} ${source.run}`;
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    const kept = known ?? { window: this.#open(source, start, key), bytes: 0 };
    this.#kept.set(key, kept);
    return kept.window;
  }

  /** A window that cannot be read is not cached: the follower then reads through a feed, which reports the fault. */
  async #open(source: WindowSource, start: number, key: string): Promise<EntryWindow | undefined> {
    // At most one per turn of the event loop: a read blocks everything else.
    await turns.take(STREAM_LIMITS.turnBytes);
    const window = await readWindow(source, start).catch(() => undefined);
    const kept = this.#kept.get(key);
    if (window === undefined) this.#kept.delete(key);
    else if (kept !== undefined) this.#count(kept, window.bytes);
    return window;
  }

  #count(kept: { bytes: number }, bytes: number): void {
    kept.bytes = bytes;
    this.#bytes += bytes;
    for (const [key, oldest] of this.#kept) {
      if (this.#bytes <= STREAM_LIMITS.keptBytes) return;
      // One that is still being read is not counted yet.
      if (oldest.bytes === 0) continue;
      this.#bytes -= oldest.bytes;
      this.#kept.delete(key);
    }
  }

  #numberOf(encoder: RunEncoder): number {
    const number = this.#encoders.get(encoder) ?? (this.#named += 1);
    this.#encoders.set(encoder, number);
    return number;
  }
}

/** Memory of a window besides its bytes; it counts even where the encoder has text for no entry. */
const OVERHEAD_BYTES = 4096;

async function readWindow({ runs, run, encoder }: WindowSource, start: number): Promise<EntryWindow | undefined> {
  const entries = await runs.read(run, start, STREAM_LIMITS.windowEntries);
  const last = entries.at(-1)?.event;
  const end = last !== undefined && isTerminal(last) ? last : undefined;
  const isWhole = end !== undefined || entries.length === STREAM_LIMITS.windowEntries;
  // Where entries are missing, the follower's own feed reports the gap.
  if (!isWhole || entries.some(({ seq }, index) => seq !== start + index + 1)) return undefined;
  const slices = [...slicesOf(entries, (entry) => encoder.entry(entry, run))];
  return { slices, bytes: slices.reduce((sum, { bytes }) => sum + bytes.length, OVERHEAD_BYTES), last: end };
}

function* slicesOf(entries: readonly Entry[], textOf: (entry: Entry) => string | undefined): Generator<Slice> {
  let texts: string[] = [];
  let rows: { seq: number; from: number }[] = [];
  let from = 0;
  for (const [index, entry] of entries.entries()) {
    const text = textOf(entry);
    if (text !== undefined) {
      texts.push(text);
      rows.push({ seq: entry.seq, from });
      from += Buffer.byteLength(text);
    }
    if (from < STREAM_LIMITS.batchChars && index < entries.length - 1) continue;
    yield { bytes: Buffer.from(texts.join("")), seq: entry.seq, rows };
    texts = [];
    rows = [];
    from = 0;
  }
}
