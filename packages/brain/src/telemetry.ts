import { Fault, parseJson, TELEMETRY } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";

/** What a hand told of its host at a time. */
export interface Sample {
  /** When it was taken, by the clock of whoever took it. */
  readonly at: number;
  readonly payload: JsonObject;
}

/** What the telemetry needs. */
export interface TelemetryWorld {
  readonly now: () => number;
  /** Called for each sample that is taken in. */
  readonly counted?: () => void;
}

/** A sample as it is kept: text, so that its size is known. */
interface Kept {
  readonly hand: string;
  /** When it came, by our own clock: that of a host may be anything. */
  readonly came: number;
  at: number;
  text: string;
}

/**
 * What hands tell of their hosts, in memory: the last hour of each, as far as all of them together fit. It is lost
 * with the process, and the hands go on telling.
 */
export class Telemetry {
  readonly #world: TelemetryWorld;
  readonly #ofHand = new Map<string, Kept[]>();
  /** All that is kept, as it came: whatever has to go is at its front, and at the front of its hand's, too. */
  #all: Kept[] = [];
  /** How many at the front of `#all` are gone; they are cut off together, so that each costs next to nothing. */
  #gone = 0;
  #bytes = 0;

  constructor(world: TelemetryWorld) {
    this.#world = world;
  }

  /** What is kept now takes so many bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes in a sample; one that comes right after the one before takes its place. PAYLOAD_TOO_LARGE beyond the bound. */
  take(hand: string, payload: JsonObject, at: number): void {
    const text = JSON.stringify(payload);
    if (text.length > TELEMETRY.payloadChars)
      throw new Fault("PAYLOAD_TOO_LARGE", `A sample has at most ${TELEMETRY.payloadChars} characters.`);
    const came = this.#world.now();
    const own = this.#ofHand.get(hand) ?? [];
    const last = own.at(-1);
    if (last !== undefined && came - last.came < TELEMETRY.everyMs) {
      this.#bytes += sizeOf(text) - sizeOf(last.text);
      last.text = text;
      last.at = at;
    } else {
      const kept = { hand, came, at, text };
      own.push(kept);
      this.#all.push(kept);
      this.#ofHand.set(hand, own);
      this.#bytes += sizeOf(text);
    }
    this.#world.counted?.();
    this.#forget();
  }

  /** The newest sample of a hand. */
  latest(hand: string): Sample | undefined {
    return this.since(hand, TELEMETRY.keptMs).at(-1);
  }

  /** The samples of a hand that came in the last so many milliseconds, oldest first. */
  since(hand: string, lastMs: number): readonly Sample[] {
    this.#forget();
    const from = this.#world.now() - lastMs;
    const own = this.#ofHand.get(hand) ?? [];
    return own.filter(({ came }) => came >= from).map(({ at, text }) => ({ at, payload: objectIn(text) }));
  }

  /** Lets go of what is too old, and of the oldest while there is too much. */
  #forget(): void {
    const from = this.#world.now() - TELEMETRY.keptMs;
    for (;;) {
      const first = this.#all[this.#gone];
      if (first === undefined || (first.came >= from && this.#bytes <= TELEMETRY.bytes)) break;
      this.#gone += 1;
      this.#bytes -= sizeOf(first.text);
      const own = this.#ofHand.get(first.hand);
      own?.shift();
      if (own?.length === 0) this.#ofHand.delete(first.hand);
    }
    if (this.#gone * 2 <= this.#all.length) return;
    this.#all = this.#all.slice(this.#gone);
    this.#gone = 0;
  }
}

/** A text and what holds it. */
function sizeOf(text: string): number {
  return text.length * BYTES_PER_CHAR + TELEMETRY.overheadBytes;
}

/** As strings are held at worst. */
const BYTES_PER_CHAR = 2;

function objectIn(text: string): JsonObject {
  const value: Json = parseJson(text);
  return value as JsonObject;
}
