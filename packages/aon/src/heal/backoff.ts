import { HEALING_LIMITS } from "../limits.ts";
import type { Failure } from "./failure.ts";
import type { Heuristic } from "./heuristic.ts";

const NETWORK =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|E?PIPE|ETIMEDOUT|ESOCKETTIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_\w+|TIMEOUT|UNAVAILABLE|TimeoutError)$/;
const TRANSIENT: readonly (number | undefined)[] = [408, 425, 500, 502, 503, 504];
/** Errors of bugs, which a retry does not fix. */
const BUGS: readonly string[] = ["TypeError", "ReferenceError", "SyntaxError", "RangeError", "AbortError"];

/** The delay before retry `attempt`: min(1000·2^(n−1), 5000) ms, less up to half by jitter. */
export function backoffMs(attempt: number, chance: number): number {
  const full = Math.min(HEALING_LIMITS.backoffMs * 2 ** (attempt - 1), HEALING_LIMITS.backoffCapMs);
  return Math.round(full * (1 - chance / 2));
}

/** Retries after a growing delay, or after the delay that the other side asked for. */
export function retryWithBackoff(): Heuristic {
  return {
    action: "retry_with_backoff",
    severity: "medium",
    description: "It may be passing: trying again after a rest.",
    attempts: HEALING_LIMITS.attempts,
    fits: (failure) => isTransientFailure(failure),
    async mend({ failure, attempt, rest }) {
      const delayMs = Math.max(failure.askedDelayMs ?? 0, backoffMs(attempt, Math.random()));
      await rest(delayMs, "Waiting before the next try.");
      return { metadata: { delay_ms: delayMs } };
    },
  };
}

/** Waits as long as a rate limit asks for, or by the same growing delay. */
export function handleRateLimit(): Heuristic {
  return {
    action: "handle_rate_limit",
    severity: "medium",
    description: "The other side asks us to slow down.",
    attempts: HEALING_LIMITS.attempts,
    fits: ({ status, code }) => status === 429 || /^(?:RATE_LIMITED|MODEL_RATE_LIMITED|TOO_MANY_REQUESTS)$/.test(code),
    async mend({ failure, attempt, rest }) {
      const delayMs = failure.askedDelayMs ?? backoffMs(attempt, Math.random());
      await rest(delayMs, "Waiting for the rate limit to pass.");
      return { metadata: { delay_ms: delayMs } };
    },
  };
}

function isTransientFailure({ status, code, name }: Failure): boolean {
  if (NETWORK.test(code) || NETWORK.test(name)) return true;
  if (status !== undefined) return TRANSIENT.includes(status);
  return !BUGS.includes(name);
}
