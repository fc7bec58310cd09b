import { asFault, FAULTS, REGISTER_LIMITS } from "@vidro/core";
import type { Fault } from "@vidro/core";

/** A connection that stands. */
export interface OpenConnection {
  /** Resolves when it is gone, with why; it never rejects. */
  readonly gone: Promise<Fault>;
}

/** How a connection is kept up. */
export interface RedialOptions<Dialled extends OpenConnection> {
  /** Connects once, greetings included; rejects with a Fault. */
  readonly dial: () => Promise<Dialled>;
  /** Ends the dialling; what stands then is left to its owner. */
  readonly signal: AbortSignal;
  /** A connection stands, the first one or another. */
  readonly up?: (connection: Dialled) => void;
  /** A connection is gone, or could not be made; the next try comes after the rest. */
  readonly down?: (why: Fault, restMs: number) => void;
  /** From 0 to 1. */
  readonly chance?: () => number;
  readonly bounds?: Partial<typeof REDIAL_BOUNDS>;
}

/** The bounds of redialling that one can be given others for. */
export const REDIAL_BOUNDS: { readonly [Name in "redialMs" | "redialCapMs" | "firstDials"]: number } = REGISTER_LIMITS;

/**
 * Keeps a connection up until the signal fires: each lost one is dialled again after a rest of random length, so that
 * many who lost theirs at once do not come back at once. Rejects with the fault that makes another try pointless: a
 * refusal of this hand, or too many failures before there was any connection. What is wrong with the brain itself, such
 * as a full disk, is no refusal: the hand dials again.
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
      // Whoever hangs up at once, again and again, is dialled less and less often.
      if (performance.now() - dialledAt >= bounds.redialMs) tries = 0;
    } catch (thrown) {
      why = asFault(thrown, "BRAIN_UNREACHABLE");
    }
    if (signal.aborted) return;
    tries += 1;
    if (isRefusal(why) || (!hasStood && tries >= bounds.firstDials)) throw why;
    const restMs = Math.max(redialDelayMs(tries, chance(), bounds), why.retryAfterMs ?? 0);
    down?.(why, restMs);
    await pause(restMs, signal);
  }
}

/** The first HTTP status that says the fault is the server's. */
const SERVERS_OWN = 500;

function isRefusal({ code }: Fault): boolean {
  const { fate, http } = FAULTS[code];
  return fate !== "retry" && http < SERVERS_OWN;
}

/** How long to rest after so many tries: anything from nothing to a bound that doubles each time, up to its cap. */
export function redialDelayMs(tries: number, chance: number, bounds: typeof REDIAL_BOUNDS = REDIAL_BOUNDS): number {
  return Math.min(bounds.redialCapMs, bounds.redialMs * 2 ** (tries - 1)) * chance;
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
