import type { HeldEvents } from "./black-box.ts";
import { healer } from "./heal.ts";
import type { Healer } from "./heal.ts";
import type { HealingQuestions } from "./interactive.ts";
import { BOX_LIMITS, HEALING_LIMITS } from "./limits.ts";

/** A plain HTTP error instead of any box. */
export interface AonRefusal {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
}

/** How AON works before an API; `R` is the request of the framework. */
export interface AonOptions<R> {
  /** Heals what routes run through `aon.heal`; a plain `healer()` by default. */
  readonly healer?: Healer;
  /** Whether little is shown of `intent_analysis`; by NODE_ENV by default. */
  readonly production?: boolean;
  /** Whether the caller is an administrator, who sees all of it even in production; nobody is by default. */
  readonly isAdmin?: (request: R) => boolean;
  /** Looks at a request before it is accepted: a refusal is sent as a plain HTTP error. */
  readonly refuse?: (request: R) => AonRefusal | undefined | Promise<AonRefusal | undefined>;
  /** Values that must never be shown. */
  readonly secrets?: readonly string[];
  /** Questions to people in interactive mode; without them nobody is asked. */
  readonly questions?: HealingQuestions;
  /** Gets what a black box held, at its end: for a log. */
  readonly onHeld?: (held: HeldEvents) => void;
  /** How long a black box works before it answers 504. */
  readonly timeoutMs?: number;
  /** The same for a glass box. */
  readonly glassTimeoutMs?: number;
  /** All the healing of one operation; for the plain healer only. */
  readonly healingTimeoutMs?: number;
  /** Events that are held at once. */
  readonly maxTelemetryEvents?: number;
  /** Silence before a heartbeat. */
  readonly heartbeatMs?: number;
  /** How long a reader may take nothing. */
  readonly drainMs?: number;
}

/** The options with everything decided. */
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

/** Decides what the options leave open. */
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

/** Who cannot be judged is not let in. */
async function refusalOf<R>({ refuse }: AonOptions<R>, request: R): Promise<AonRefusal | undefined> {
  try {
    return await refuse?.(request);
  } catch {
    return { status: 500, message: "The request could not be judged." };
  }
}

/** A log that fails is no reason to fail the answer. */
function reportHeld<R>({ onHeld }: AonOptions<R>, held: HeldEvents): void {
  try {
    onHeld?.(held);
  } catch {
    // There is nobody left to tell.
  }
}
