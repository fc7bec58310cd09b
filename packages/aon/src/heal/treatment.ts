import type { Json } from "@vidro/core";
import type { ProgressEvent } from "../event.ts";
import { ESCALATE } from "../interactive.ts";
import type { HealingQuestion } from "../interactive.ts";
import { HEALING_LIMITS } from "../limits.ts";
import { failureOf } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { HealingFailedError } from "./healing-failed-error.ts";
import { UnhealedError } from "./heuristic.ts";
import type { HealingContext, Heuristic, HealingChange, Operation } from "./heuristic.ts";
import { orAborted, waitFor } from "./wait.ts";

/** Receives the events of a healing, and answers its questions. */
export interface HealingObserver {
  readonly emit: (event: ProgressEvent) => Promise<void>;
  readonly hide: (...secrets: readonly string[]) => void;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /** Asks a person; absent when that is not possible. */
  readonly ask?: ((question: HealingQuestion) => Promise<string>) | undefined;
}

/** Options of a treatment. */
export interface TreatmentOptions<T> {
  readonly operation: Operation<T>;
  readonly observer: HealingObserver;
  readonly heuristics: readonly Heuristic[];
  readonly healingTimeoutMs: number;
  readonly questions: number;
}

/** A healing whose success depends on the next attempt. */
interface UnprovenHealing {
  readonly action: string;
  readonly issue: string;
  readonly attempt: number;
}

/** Runs one operation and heals its failures until it succeeds or fails for good. */
export class Treatment<T> {
  readonly #options: TreatmentOptions<T>;
  readonly #tries = new Map<Heuristic, number>();
  readonly #tried: string[] = [];
  #unproven: UnprovenHealing[] = [];
  #input: Json | undefined;
  #token: string | undefined;
  #deadline: AbortSignal | undefined;
  #asked = 0;

  constructor(given: TreatmentOptions<T>) {
    this.#options = given;
    this.#input = given.operation.input;
  }

  /** The operation's value; rejects with HealingFailedError. */
  async run(): Promise<T> {
    const { operation, observer, heuristics } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        const given = { attempt, input: this.#input, token: this.#token, signal: observer.signal };
        const value = await operation.run(given);
        for (const mending of this.#unproven) await this.#reportSuccess(mending);
        return value;
      } catch (error) {
        const failure = failureOf(error);
        observer.hide(...heuristics.flatMap((heuristic) => heuristic.secrets?.() ?? []));
        this.#unproven = this.#unproven.filter(({ issue }) => issue !== failure.code);
        const isHealed =
          attempt < HEALING_LIMITS.runs && ((await this.#heal(failure)) || (await this.#askPerson(failure)));
        if (!isHealed) throw new HealingFailedError(operation.name, failure, this.#tried);
      }
    }
  }

  #reportSuccess({ action, attempt }: UnprovenHealing): Promise<void> {
    const { operation, observer } = this.#options;
    const description = `It worked: ${operation.name} succeeded after ${action}.`;
    const metadata = { attempt, success: true };
    return observer.emit({ type: "healing", severity: "low", action, description, metadata });
  }

  async #heal(failure: Failure): Promise<boolean> {
    const { operation, observer, heuristics, healingTimeoutMs } = this.#options;
    if (!this.#isSafe(failure)) {
      const message = "Not tried again: it may have had its effect, and doing it twice could harm.";
      await observer.emit({ type: "status", message });
      return false;
    }
    this.#deadline ??= AbortSignal.any([observer.signal, AbortSignal.timeout(healingTimeoutMs)]);
    for (const heuristic of heuristics) {
      const attempt = (this.#tries.get(heuristic) ?? 0) + 1;
      if (attempt > heuristic.attempts || !heuristic.fits(failure, { operation, input: this.#input })) continue;
      if (observer.signal.aborted) return false;
      this.#tries.set(heuristic, attempt);
      if (await this.#apply(heuristic, this.#circumstances(failure, attempt, this.#deadline))) return true;
    }
    return false;
  }

  /** Whether repeating the operation cannot repeat an effect. */
  #isSafe(failure: Failure): boolean {
    return failure.isBeforeEffect || this.#options.operation.idempotent === true;
  }

  async #apply(heuristic: Heuristic, circumstances: HealingContext): Promise<boolean> {
    const { operation, observer } = this.#options;
    const { failure, attempt, signal } = circumstances;
    const { action, severity, description, issue = failure.code, decision = action } = heuristic;
    if (!this.#tried.includes(action)) {
      this.#tried.push(action);
      // The failure's message may reveal internals: in production only administrators see this event's metadata.
      const metadata = { cause: failure.message };
      const original_intent = operation.name;
      await observer.emit({ type: "intent_analysis", original_intent, detected_issue: issue, decision, metadata });
    }
    const metadata = { attempt, cause: failure.code };
    await observer.emit({ type: "healing", severity, action, description, metadata });
    try {
      const mended = await orAborted(heuristic.mend(circumstances), signal);
      if (mended === undefined) throw new UnhealedError("it cannot be mended this way.");
      await this.#applyChange(mended, heuristic, attempt);
      this.#unproven.push({ action, issue: failure.code, attempt });
      return true;
    } catch (thrown) {
      await this.#reportFailure(heuristic, circumstances, thrown);
      return false;
    }
  }

  async #applyChange(mended: HealingChange, { action, severity }: Heuristic, attempt: number): Promise<void> {
    if (mended.input !== undefined) this.#input = mended.input;
    if (mended.token !== undefined) this.#token = mended.token;
    if (mended.metadata === undefined) return;
    const metadata = { attempt, ...mended.metadata };
    const description = "Done: trying the operation again.";
    await this.#options.observer.emit({ type: "healing", severity, action, description, metadata });
  }

  async #reportFailure(
    { action, severity }: Heuristic,
    { attempt, signal }: HealingContext,
    thrown: unknown,
  ): Promise<void> {
    const { observer, healingTimeoutMs } = this.#options;
    const isLate = signal.aborted && !observer.signal.aborted;
    const told = thrown instanceof UnhealedError ? thrown.message : `${failureOf(thrown).code}.`;
    const why = isLate ? `healing stopped after ${healingTimeoutMs} ms.` : told;
    const metadata = { attempt, success: false, ...(isLate ? { timed_out: true } : {}) };
    await observer.emit({ type: "healing", severity, action, description: `It did not work: ${why}`, metadata });
  }

  #circumstances(failure: Failure, attempt: number, signal: AbortSignal): HealingContext {
    const { operation, observer, healingTimeoutMs } = this.#options;
    return {
      failure,
      operation,
      input: this.#input,
      attempt,
      signal,
      hide: observer.hide,
      async rest(ms, message) {
        if (ms > healingTimeoutMs) throw new UnhealedError(`a wait of ${ms} ms is longer than healing may take.`);
        await observer.emit({ type: "status", message, estimated_delay_ms: ms });
        await waitFor(ms, signal);
      },
    };
  }

  /** Asks a person, who may allow repeating an operation that perhaps had an effect. */
  async #askPerson(failure: Failure): Promise<boolean> {
    const { operation, observer, questions } = this.#options;
    if (observer.ask === undefined || this.#asked >= questions) return false;
    this.#asked++;
    const risk = this.#isSafe(failure) ? "" : " It may already have had its effect.";
    const description = `${operation.name} failed with ${failure.code}.${risk} Shall it be tried again?`;
    const answer = await observer.ask({ description, options: ["retry", ESCALATE] });
    await observer.emit({ type: "status", message: `The answer is: ${answer}.` });
    if (answer !== "retry") return false;
    this.#tries.clear();
    this.#deadline = undefined;
    this.#tried.push("ask_person");
    return true;
  }
}
