import type { HeldEvents } from "./black-box.ts";
import { healer } from "./heal.ts";
import type { Healer } from "./heal.ts";
import type { HealingQuestions } from "./interactive.ts";
import { BOX_LIMITS, HEALING_LIMITS } from "./limits.ts";

/** An HTTP error instead of a box. */
export interface AonRefusal {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
}

/** Options of AON; `R` is the request type of the framework. */
export interface AonOptions<R> {
  /** Heals what routes run through `aon.heal`; a plain `healer()` by default. */
  readonly healer?: Healer;
  /** Whether `intent_analysis` is reduced; by default when NODE_ENV is `production`. */
  readonly production?: boolean;
  /** Whether the caller is an administrator, who sees all of it in production too; false by default. */
  readonly isAdmin?: (request: R) => boolean;
  /** Checks a request before it is accepted; a refusal is sent as an HTTP error. */
  readonly refuse?: (request: R) => AonRefusal | undefined | Promise<AonRefusal | undefined>;
  /** Values that must not appear in events. */
  readonly secrets?: readonly string[];
  /** Questions to people in interactive mode; without them no person is asked. */
  readonly questions?: HealingQuestions;
  /** Called with the events of a black box at its end, for logging. */
  readonly onHeld?: (held: HeldEvents) => void;
  /** Time limit of a black box, after which it answers 504. */
  readonly timeoutMs?: number;
  /** The same for a glass box. */
  readonly glassTimeoutMs?: number;
  /** Time limit for all healing of one operation; only for the default healer. */
  readonly healingTimeoutMs?: number;
  /** Most events that are buffered. */
  readonly maxTelemetryEvents?: number;
  /** Idle time before a heartbeat. */
  readonly heartbeatMs?: number;
  /** How long a reader may read nothing before it is disconnected. */
  readonly drainMs?: number;
}

/** The options with their defaults. */
export interface Settings<R> {
  readonly healer: Healer;
  readonly isProduction: boolean;
  readonly isAdmin: (request: R) => boolean;
  /** Never rejects. */
  readonly refuse: (request: R) => Promise<AonRefusal | undefined>;
  readonly secrets: readonly string[];
  readonly questions: HealingQuestions | undefined;
  /** Never throws. */
  readonly onHeld: (held: HeldEvents) => void;
  readonly workMs: { readonly black: number; readonly glass: number };
  readonly heldEvents: number;
  readonly heartbeatMs: number;
  readonly drainMs: number;
  readonly unsentBytes: number;
}

/** Fills in the defaults. */
export function settingsOf<R>(options: AonOptions<R>): Settings<R> {
  return {
    healer: options.healer ?? healer({ healingTimeoutMs: options.healingTimeoutMs ?? HEALING_LIMITS.totalMs }),
    isProduction: options.production ?? globalThis.process?.env["NODE_ENV"] === "production",
    isAdmin: options.isAdmin ?? (() => false),
    refuse: (request) => refusalOf(options, request),
    secrets: options.secrets ?? [],
    questions: options.questions,
    onHeld: (held) => reportHeld(options, held),
    workMs: { black: options.timeoutMs ?? BOX_LIMITS.blackMs, glass: options.glassTimeoutMs ?? BOX_LIMITS.glassMs },
    heldEvents: options.maxTelemetryEvents ?? BOX_LIMITS.heldEvents,
    heartbeatMs: options.heartbeatMs ?? BOX_LIMITS.heartbeatMs,
    drainMs: options.drainMs ?? BOX_LIMITS.drainMs,
    unsentBytes: BOX_LIMITS.unsentBytes,
  };
}

/** Calls `refuse`; a request is refused when the check itself fails. */
async function refusalOf<R>({ refuse }: AonOptions<R>, request: R): Promise<AonRefusal | undefined> {
  try {
    return await refuse?.(request);
  } catch {
    return { status: 500, message: "The request could not be judged." };
  }
}

/** Calls `onHeld`; its errors do not affect the answer. */
function reportHeld<R>({ onHeld }: AonOptions<R>, held: HeldEvents): void {
  try {
    onHeld?.(held);
  } catch {
    // Ignored: the answer does not depend on it.
  }
}
