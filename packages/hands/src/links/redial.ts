import { asFault, FAULTS, REGISTER_LIMITS, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Fault } from "@vidro/core";

/** A connection that is up. */
export interface OpenConnection {
  /** Resolves with the reason when the connection ends; never rejects. */
  readonly gone: Promise<Fault>;
}

/** Settings for keeping a connection up. */
export interface RedialOptions<Dialled extends OpenConnection> {
  /** Connects once, including the greeting; rejects with a Fault. */
  readonly dial: () => Promise<Dialled>;
  /** Ends the dialling; an open connection is left to its owner. */
  readonly signal: AbortSignal;
  /** Called for each connection that is up. */
  readonly up?: (connection: Dialled) => void;
  /** Called when a connection ended or failed; the next attempt follows after `restMs`. */
  readonly down?: (why: Fault, restMs: number) => void;
  /** Random number from 0 to 1. */
  readonly chance?: () => number;
  readonly bounds?: Partial<typeof REDIAL_BOUNDS>;
}

/** Bounds of redialling that callers may replace. */
export const REDIAL_BOUNDS: { readonly [Name in "redialMs" | "redialCapMs" | "firstDials"]: number } = REGISTER_LIMITS;

/**
 * Keeps a connection up until the signal fires. A lost one is dialled again after a random delay, so that many hands
 * that lost theirs at once do not return at once. Rejects with a fault that retrying cannot cure: a refusal of this
 * hand, or too many failures before the first connection. A fault of the brain itself, such as a full disk, is retried.
 */
export async function keepConnected<Dialled extends OpenConnection>(options: RedialOptions<Dialled>): Promise<void> {
  const { dial, signal, up, down, chance = Math.random } = options;
  const bounds = { ...REDIAL_BOUNDS, ...options.bounds };
  let hasStood = false;
  let tries = 0;
  while (!signal.aborted) {
    const dialledAt = performance.now();
    let why: Fault;
    try {
      const connection = await dial();
      hasStood = true;
      up?.(connection);
      why = await connection.gone;
      // A brain that closes each connection at once is dialled less and less often.
      if (performance.now() - dialledAt >= bounds.redialMs) tries = 0;
    } catch (thrown) {
      why = asFault(thrown, "BRAIN_UNREACHABLE");
    }
    if (signal.aborted) return;
    tries += 1;
    if (isRefusal(why) || (!hasStood && tries >= bounds.firstDials)) throw why;
    const restMs = Math.max(redialDelayMs(tries, chance(), bounds), askedDelayMs(why));
    down?.(why, restMs);
    await pause(restMs, signal);
  }
}

/** The first HTTP status of a server fault. */
const SERVERS_OWN = 500;

function isRefusal({ code }: Fault): boolean {
  const { fate, http } = FAULTS[code];
  return fate !== "retry" && http < SERVERS_OWN;
}

/** Delay before the next attempt: a random part of a bound that doubles with each try, up to its cap. */
export function redialDelayMs(tries: number, chance: number, bounds: typeof REDIAL_BOUNDS = REDIAL_BOUNDS): number {
  return Math.min(bounds.redialCapMs, bounds.redialMs * 2 ** (tries - 1)) * chance;
}

/** The delay that a brain asks for, as far as a hand heeds it: a timer takes a longer one for none. */
export function askedDelayMs({ retryAfterMs = 0 }: Fault): number {
  return Math.min(retryAfterMs, SOUTHBOUND_LIMITS.rivalCapMs);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const timer = setTimeout(wake, ms);
  signal.addEventListener("abort", wake, { once: true });
  if (signal.aborted) wake();
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  });
}
