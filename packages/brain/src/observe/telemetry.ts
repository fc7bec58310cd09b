import { Fault, TELEMETRY_LIMITS } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";

/** What a hand told of its host at a time. */
export interface TelemetrySample {
  /** When it was taken, by the clock of its host, or by ours where the host did not say. */
  readonly at: number;
  readonly payload: JsonObject;
}

/** A sample as it comes in. */
export interface SamplePush extends TelemetrySample {
  /** The hand's own id of it: one that comes again is the same sample. */
  readonly id: string;
}

/** Takes in a sample of a hand: once it returns, the sample is kept; throws a Fault when it is refused. */
export type TakeSample = (hand: string, push: SamplePush) => void;

/** Why a sample was dropped before its hour was over. */
type DropReason = "hand" | "all";

/** What the telemetry needs. */
interface TelemetryWorld {
  readonly now: () => number;
  /** Called for each sample that is taken in; one that comes again is not another one. */
  readonly counted?: () => void;
  /** Called for each sample that is dropped before its hour is over, because its hand or all hands told too much. */
  readonly dropped?: (why: DropReason) => void;
}

/** A sample as it is kept: text, so that its size is known. */
interface Kept {
  readonly hand: string;
  readonly id: string;
  /** When it came, by our own clock: that of a host may be anything. */
  readonly came: number;
  readonly at: number;
  readonly text: string;
  isGone: boolean;
}

/** The samples of one hand, oldest first, and their ids. */
interface HandSamples {
  readonly samples: Kept[];
  readonly byId: Map<string, Kept>;
}

/**
 * What hands tell of their hosts, in memory. Each sample that was taken in is kept for an hour; of a hand that tells
 * more than its share, and of all hands when together they tell too much, the oldest samples are dropped and counted.
 * A sample is lost with the process, and the hands go on telling.
 */
export class TelemetryStore {
  readonly #world: TelemetryWorld;
  readonly #ofHand = new Map<string, HandSamples>();
  /** All samples in the order in which they came, among them some that are gone. */
  #all: Kept[] = [];
  /** No sample before this place in `#all` is kept. */
  #first = 0;
  #count = 0;
  #bytes = 0;

  constructor(world: TelemetryWorld) {
    this.#world = world;
  }

  /** What is kept now takes so many bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Takes in a sample. One whose id is kept already is the same sample and changes nothing; ACTION_ID_REUSED when it
   * says something else, PAYLOAD_TOO_LARGE beyond the bound of one sample.
   */
  take(hand: string, { id, payload, at }: SamplePush): void {
    const text = JSON.stringify(payload);
    if (text.length > TELEMETRY_LIMITS.payloadChars)
      throw new Fault("PAYLOAD_TOO_LARGE", `A sample has at most ${TELEMETRY_LIMITS.payloadChars} characters.`);
    this.#expire();
    const own = this.#ofHand.get(hand) ?? { samples: [], byId: new Map<string, Kept>() };
    const known = own.byId.get(id);
    if (known?.text === text) return;
    if (known !== undefined)
      throw new Fault("ACTION_ID_REUSED", "A sample with this id came before and said otherwise.");
    const kept: Kept = { hand, id, came: this.#world.now(), at, text, isGone: false };
    own.samples.push(kept);
    own.byId.set(id, kept);
    this.#ofHand.set(hand, own);
    this.#all.push(kept);
    this.#count += 1;
    this.#bytes += sizeOf(kept);
    this.#world.counted?.();
    this.#fit(own);
  }

  /** The newest sample of a hand. */
  latest(hand: string): TelemetrySample | undefined {
    return this.since(hand, TELEMETRY_LIMITS.keptMs).at(-1);
  }

  /** The samples of a hand that came in the last so many milliseconds, oldest first. */
  since(hand: string, lastMs: number): readonly TelemetrySample[] {
    this.#expire();
    const from = this.#world.now() - lastMs;
    const own = this.#ofHand.get(hand)?.samples ?? [];
    return own.filter(({ came }) => came >= from).map(({ at, text }) => ({ at, payload: objectIn(text) }));
  }

  /** Lets go of what is older than an hour. */
  #expire(): void {
    const from = this.#world.now() - TELEMETRY_LIMITS.keptMs;
    for (let oldest = this.#oldest(); oldest !== undefined && oldest.came < from; oldest = this.#oldest())
      this.#remove(oldest);
    this.#compact();
  }

  /** Drops the oldest while its hand, or all of them, have too much. */
  #fit({ samples }: HandSamples): void {
    while (samples.length > TELEMETRY_LIMITS.samples) this.#drop(samples[0], "hand");
    while (this.#bytes > TELEMETRY_LIMITS.bytes) this.#drop(this.#oldest(), "all");
    this.#compact();
  }

  #drop(kept: Kept | undefined, why: DropReason): void {
    if (kept === undefined) return;
    this.#remove(kept);
    this.#world.dropped?.(why);
  }

  #oldest(): Kept | undefined {
    while (this.#all[this.#first]?.isGone === true) this.#first += 1;
    return this.#all[this.#first];
  }

  /** Forgets a sample, which is the oldest of its hand. */
  #remove(kept: Kept): void {
    kept.isGone = true;
    this.#count -= 1;
    this.#bytes -= sizeOf(kept);
    const own = this.#ofHand.get(kept.hand);
    own?.samples.shift();
    own?.byId.delete(kept.id);
    if (own?.samples.length === 0) this.#ofHand.delete(kept.hand);
  }

  /** Those that are gone are cut out together, so that each costs next to nothing. */
  #compact(): void {
    if (this.#all.length <= COMPACT_AT || this.#all.length <= this.#count * 2) return;
    this.#all = this.#all.filter(({ isGone }) => !isGone);
    this.#first = 0;
  }
}

/** A list that is shorter is not worth compacting. */
const COMPACT_AT = 64;

/** What a sample takes: its texts and what holds them. */
function sizeOf({ id, text }: Kept): number {
  return (id.length + text.length) * BYTES_PER_CHAR + TELEMETRY_LIMITS.overheadBytes;
}

/** As strings are held at worst. */
const BYTES_PER_CHAR = 2;

function objectIn(text: string): JsonObject {
  const value: Json = parseJson(text);
  return value as JsonObject;
}
