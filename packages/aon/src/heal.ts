import { QUESTION_LIMITS, HEALING_LIMITS } from "./limits.ts";
import { handleRateLimit, retryWithBackoff } from "./heal/backoff.ts";
import type { Heuristic, Operation } from "./heal/heuristic.ts";
import { fixSchemaValidation } from "./heal/schema.ts";
import { Treatment } from "./heal/treatment.ts";
import type { HealingObserver } from "./heal/treatment.ts";

/** Runs operations and heals their failures with the heuristics that it knows. */
export interface Healer {
  /** Adds a heuristic; those added last are tried first. */
  register(heuristic: Heuristic): void;
  /** The operation's value; rejects with HealingFailedError after what fits was tried. */
  run<T>(operation: Operation<T>, observer: HealingObserver): Promise<T>;
}

/** Options of a healer. */
export interface HealerOptions {
  /** Tried in this order, before the built-in ones. */
  readonly heuristics?: readonly Heuristic[];
  /** Time limit for all healing of one operation. */
  readonly healingTimeoutMs?: number;
  /** Most questions to a person about one operation. */
  readonly questions?: number;
}

/**
 * A healer. `fix_schema_validation`, `handle_rate_limit` and `retry_with_backoff` are built in; `refresh_token` and
 * `recover_db_connection` need options and are added like your own heuristics.
 */
export function healer(options: HealerOptions = {}): Healer {
  const { healingTimeoutMs = HEALING_LIMITS.totalMs, questions = QUESTION_LIMITS.times } = options;
  const heuristics = [...(options.heuristics ?? []), fixSchemaValidation(), handleRateLimit(), retryWithBackoff()];
  return {
    register(heuristic) {
      if (heuristics.length >= HEALING_LIMITS.heuristics)
        throw new RangeError(`A healer knows at most ${HEALING_LIMITS.heuristics} heuristics.`);
      heuristics.unshift(heuristic);
    },
    run: (operation, observer) => new Treatment({ operation, observer, heuristics, healingTimeoutMs, questions }).run(),
  };
}
