import { Fault, TELEMETRY_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";

/** Telemetry of a host at one time. */
export interface TelemetrySample {
  /** When it was measured, by the clock of its host; by ours where the host did not say. */
  readonly at: number;
  readonly payload: JsonObject;
}

/** A sample as a hand sends it. */
export interface SamplePush extends TelemetrySample {
  /** The hand's id of the sample; used to drop repetitions. */
  readonly id: string;
}

/** Stores a sample of a hand; throws a Fault when it is refused. */
export type TakeSample = (hand: string, push: SamplePush) => void;

/** The bound for which a sample was dropped before its hour was over. */
type DropReason = "hand" | "all";

/** Dependencies of the telemetry store. */
interface TelemetryDependencies {
  readonly now: () => number;
  /** Called for each new sample; not for repetitions. */
  readonly counted?: () => void;
  /** Called for each sample dropped before its hour is over, because its hand or all hands together sent too much. */
  readonly dropped?: (why: DropReason) => void;
}

/** A stored sample: text, so that its size is known. */
interface StoredSample {
  readonly hand: string;
  readonly id: string;
  /** When it arrived, by our clock; the clock of a host may be wrong. */
  readonly came: number;
  readonly at: number;
  readonly text: string;
  isGone: boolean;
}

/** The samples of one hand, oldest first, and their ids. */
interface HandSamples {
  readonly samples: StoredSample[];
  readonly byId: Map<string, StoredSample>;
}

/**
 * Telemetry of all hands, in memory. Each sample is kept for an hour; of a hand that sends more than its share, and of
 * all hands when together they send too much, the oldest samples are dropped and counted. A restart loses the samples,
 * and the hands go on sending.
 */
export class TelemetryStore {
  readonly #deps: TelemetryDependencies;
  readonly #ofHand = new Map<string, HandSamples>();
  /** All samples in order of arrival, including some that were dropped. */
  #all: StoredSample[] = [];
  /** Samples before this index of `#all` were dropped. */
  #first = 0;
  #count = 0;
  #bytes = 0;

  constructor(deps: TelemetryDependencies) {
    this.#deps = deps;
  }

  /** Memory of all stored samples. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Stores a sample. One with a known id is a repetition and changes nothing; ACTION_ID_REUSED when its content
   * differs, PAYLOAD_TOO_LARGE beyond the bound of one sample.
   */
  take(hand: string, { id, payload, at }: SamplePush): void {
    const text = JSON.stringify(payload);
    if (text.length > TELEMETRY_LIMITS.payloadChars)
      throw new Fault("PAYLOAD_TOO_LARGE", `A sample has at most ${TELEMETRY_LIMITS.payloadChars} characters.`);
    this.#expire();
    const own = this.#ofHand.get(hand) ?? { samples: [], byId: new Map<string, StoredSample>() };
    const known = own.byId.get(id);
    if (known?.text === text) return;
    if (known !== undefined)
      throw new Fault("ACTION_ID_REUSED", "A sample with this id came before and said otherwise.");
    const kept: StoredSample = { hand, id, came: this.#deps.now(), at, text, isGone: false };
    own.samples.push(kept);
    own.byId.set(id, kept);
    this.#ofHand.set(hand, own);
    this.#all.push(kept);
    this.#count += 1;
    this.#bytes += sizeOf(kept);
    this.#deps.counted?.();
    this.#fit(own);
  }

  /** The newest sample of a hand. */
  latest(hand: string): TelemetrySample | undefined {
    return this.since(hand, TELEMETRY_LIMITS.keptMs).at(-1);
  }

  /** The samples of a hand that arrived in the last so many milliseconds, oldest first. */
  since(hand: string, lastMs: number): readonly TelemetrySample[] {
    this.#expire();
    const from = this.#deps.now() - lastMs;
    const own = this.#ofHand.get(hand)?.samples ?? [];
    return own.filter(({ came }) => came >= from).map(({ at, text }) => ({ at, payload: objectIn(text) }));
  }

  /** Drops samples older than an hour. */
  #expire(): void {
    const from = this.#deps.now() - TELEMETRY_LIMITS.keptMs;
    for (let oldest = this.#oldest(); oldest !== undefined && oldest.came < from; oldest = this.#oldest())
      this.#remove(oldest);
    this.#compact();
  }

  /** Drops the oldest samples while a hand, or all hands together, exceed their bound. */
  #fit({ samples }: HandSamples): void {
    while (samples.length > TELEMETRY_LIMITS.samples) this.#drop(samples[0], "hand");
    while (this.#bytes > TELEMETRY_LIMITS.bytes) this.#drop(this.#oldest(), "all");
    this.#compact();
  }

  #drop(kept: StoredSample | undefined, why: DropReason): void {
    if (kept === undefined) return;
    this.#remove(kept);
    this.#deps.dropped?.(why);
  }

  #oldest(): StoredSample | undefined {
    while (this.#all[this.#first]?.isGone === true) this.#first += 1;
    return this.#all[this.#first];
  }

  /** Drops a sample, which is the oldest of its hand. */
  #remove(kept: StoredSample): void {
    kept.isGone = true;
    this.#count -= 1;
    this.#bytes -= sizeOf(kept);
    const own = this.#ofHand.get(kept.hand);
    own?.samples.shift();
    own?.byId.delete(kept.id);
    if (own?.samples.length === 0) this.#ofHand.delete(kept.hand);
  }

  /** Removes dropped samples from `#all` in bulk, so that each costs next to nothing. */
  #compact(): void {
    if (this.#all.length <= COMPACT_AT || this.#all.length <= this.#count * 2) return;
    this.#all = this.#all.filter(({ isGone }) => !isGone);
    this.#first = 0;
  }
}

/** A shorter list is not compacted. */
const COMPACT_AT = 64;

/** Memory of a sample: its texts and its objects. */
function sizeOf({ id, text }: StoredSample): number {
  return (id.length + text.length) * BYTES_PER_CHAR + TELEMETRY_LIMITS.overheadBytes;
}

/** Worst case of a JavaScript string. */
const BYTES_PER_CHAR = 2;

function objectIn(text: string): JsonObject {
  const value: Json = parseJson(text);
  return value as JsonObject;
}
