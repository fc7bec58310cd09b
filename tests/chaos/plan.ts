import { SeededRandom } from "../support/seeded-random.ts";

/* What happens when, all of it from one seed: the runs that are begun, and what goes wrong meanwhile. */

/** The kinds of faults that can be asked for. */
export const FAULT_KINDS = ["kill", "stop", "store", "disk", "abort"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** The processes that things happen to. */
export const MEMBERS = ["brain", "ws", "http", "tcp"] as const;
export type MemberName = (typeof MEMBERS)[number];

/** Where a run works: the brain's own machine, or one of the others. */
export type Place = "local" | Exclude<MemberName, "brain">;
const PLACES = ["local", "ws", "http", "tcp"] as const satisfies readonly Place[];

/** Something that goes wrong at a moment. */
export interface PlannedFault {
  readonly kind: FaultKind;
  /** Milliseconds from the beginning. */
  readonly atMs: number;
  /** Of `kill` and `stop`. */
  readonly member: MemberName;
  /** How long it stays that way. */
  readonly forMs: number;
}

/** One action of a run: what the model wants, and how long it takes. */
export interface PlannedStep {
  /** `mark` is allowed by policy, `asked` needs a person's yes. */
  readonly tool: "mark" | "asked";
  /** How long the command works before it leaves its mark. */
  readonly workMs: number;
  /** How long the model thinks before it says so. */
  readonly thinkMs: number;
}

/** One run: its key names its marks, and makes a request that is repeated the same request. */
export interface PlannedRun {
  readonly key: string;
  readonly atMs: number;
  readonly place: Place;
  readonly steps: readonly PlannedStep[];
  /** How the person answers what it asks, one after the other: yes and continue, no and stop, or nothing at all. */
  readonly answers: readonly { readonly afterMs: number; readonly word: "first" | "second" | "none" }[];
  /** When a person stops it, after its beginning. */
  readonly abortMs?: number;
}

/** A whole course. */
export interface Plan {
  readonly runs: readonly PlannedRun[];
  readonly faults: readonly PlannedFault[];
}

/** What a course is made from. */
export interface ChaosOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly faults: readonly FaultKind[];
}

const RUN_EVERY_MS = [100, 450] as const;
const FIRST_FAULT_MS = 500;
const FAULT_EVERY_MS = [250, 1400] as const;
const USUAL_MS = 800;
const LONGEST_STOP_MS = 2500;
const LONGEST_LOCK_MS = 8000;
const LONGEST_FULL_MS = 3000;
const LONGEST_DEATH_MS = 1200;

/** The course that a seed stands for: the same one each time. */
export function planOf({ seconds, seed, faults }: ChaosOptions): Plan {
  const chance = new SeededRandom(seed);
  const endMs = seconds * 1000;
  const runs: PlannedRun[] = [];
  for (let atMs = 0; atMs < endMs; atMs += chance.whole(...RUN_EVERY_MS))
    runs.push(runOf(chance, { key: `r${runs.length + 1}`, atMs, aborts: faults.includes("abort") }));
  // Persons abort, as it is planned for their runs; all else befalls the machines.
  const [first, ...others] = faults.filter((kind) => kind !== "abort");
  return { runs, faults: first === undefined ? [] : faultsOf(chance, [first, ...others], endMs) };
}

function faultsOf(
  chance: SeededRandom,
  kinds: readonly [FaultKind, ...FaultKind[]],
  endMs: number,
): readonly PlannedFault[] {
  const faults: PlannedFault[] = [];
  for (let atMs = FIRST_FAULT_MS; atMs < endMs; atMs += chance.whole(...FAULT_EVERY_MS))
    faults.push(faultOf(chance, chance.one(kinds), atMs));
  return faults;
}

/** One run as chance has it. */
export function runOf(chance: SeededRandom, about: { key: string; atMs: number; aborts: boolean }): PlannedRun {
  const { key, atMs, aborts } = about;
  const steps = Array.from({ length: chance.whole(1, 5) }, (): PlannedStep => {
    const tool = chance.happens(0.2) ? "asked" : "mark";
    return { tool, workMs: chance.happens(0.35) ? chance.whole(100, 1200) : 0, thinkMs: chance.whole(0, 120) };
  });
  const answers = Array.from({ length: steps.length * 2 }, () => ({
    afterMs: chance.whole(0, 300),
    word: chance.happens(0.03) ? ("none" as const) : chance.happens(0.8) ? ("first" as const) : ("second" as const),
  }));
  const abortMs = chance.whole(0, 900);
  const isAborted = chance.happens(0.2) && aborts;
  return { key, atMs, place: chance.one(PLACES), steps, answers, ...(isAborted ? { abortMs } : {}) };
}

function faultOf(chance: SeededRandom, kind: FaultKind, atMs: number): PlannedFault {
  const longest = { kill: LONGEST_DEATH_MS, stop: LONGEST_STOP_MS, store: LONGEST_LOCK_MS, disk: LONGEST_FULL_MS };
  const most = kind === "abort" ? 0 : longest[kind];
  // Half of what goes wrong goes wrong with the brain.
  const member = chance.happens(0.5) ? "brain" : chance.one(MEMBERS);
  // Most of it is short; what is long must not be all that ever happens.
  const forMs = chance.whole(Math.min(most, 50), chance.happens(0.3) ? most : Math.min(most, USUAL_MS));
  return { kind, atMs, member, forMs };
}
