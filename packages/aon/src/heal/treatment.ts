import type { Json } from "@vidro/core";
import type { Telemetry } from "../event.ts";
import { ESCALATE } from "../interactive.ts";
import type { HealingQuestion } from "../interactive.ts";
import { HEALING_LIMITS } from "../limits.ts";
import { failureOf } from "./failure.ts";
import type { Failure } from "./failure.ts";
import { HealingFailed } from "./healing-failed.ts";
import { Unhealed } from "./heuristic.ts";
import type { Circumstances, Heuristic, Mended, Operation } from "./heuristic.ts";
import { orAborted, rest } from "./rest.ts";

/** Whoever sees a healing. */
export interface Witness {
  readonly emit: (event: Telemetry) => Promise<void>;
  readonly hide: (...secrets: readonly string[]) => void;
  /** Aborted when nobody waits for the operation any more. */
  readonly signal: AbortSignal;
  /** Asks a person; absent when nobody can be asked. */
  readonly ask?: ((question: HealingQuestion) => Promise<string>) | undefined;
}

/** What a treatment needs. */
export interface Case<T> {
  readonly operation: Operation<T>;
  readonly witness: Witness;
  readonly heuristics: readonly Heuristic[];
  readonly healingTimeoutMs: number;
  readonly questions: number;
}

/** A healing that was done and has yet to prove itself. */
interface Mending {
  readonly action: string;
  readonly issue: string;
  readonly attempt: number;
}

/** The care for one operation, from its first run to its end. */
export class Treatment<T> {
  readonly #case: Case<T>;
  readonly #tries = new Map<Heuristic, number>();
  readonly #tried: string[] = [];
  #unproven: Mending[] = [];
  #input: Json | undefined;
  #token: string | undefined;
  #deadline: AbortSignal | undefined;
  #asked = 0;

  constructor(given: Case<T>) {
    this.#case = given;
    this.#input = given.operation.input;
  }

  /** The operation's value; rejects with HealingFailed. */
  async run(): Promise<T> {
    const { operation, witness, heuristics } = this.#case;
    for (let attempt = 1; ; attempt++) {
      try {
        const given = { attempt, input: this.#input, token: this.#token, signal: witness.signal };
        const value = await operation.run(given);
        for (const mending of this.#unproven) await this.#praise(mending);
        return value;
      } catch (error) {
        const failure = failureOf(error);
        witness.hide(...heuristics.flatMap((heuristic) => heuristic.secrets?.() ?? []));
        this.#unproven = this.#unproven.filter(({ issue }) => issue !== failure.code);
        const isHealed =
          attempt < HEALING_LIMITS.runs && ((await this.#heal(failure)) || (await this.#askPerson(failure)));
        if (!isHealed) throw new HealingFailed(operation.name, failure, this.#tried);
      }
    }
  }

  #praise({ action, attempt }: Mending): Promise<void> {
    const { operation, witness } = this.#case;
    const description = `It worked: ${operation.name} succeeded after ${action}.`;
    const metadata = { attempt, success: true };
    return witness.emit({ type: "healing", severity: "low", action, description, metadata });
  }

  async #heal(failure: Failure): Promise<boolean> {
    const { operation, witness, heuristics, healingTimeoutMs } = this.#case;
    if (!this.#isSafe(failure)) {
      const message = "Not tried again: it may have had its effect, and doing it twice could harm.";
      await witness.emit({ type: "status", message });
      return false;
    }
    this.#deadline ??= AbortSignal.any([witness.signal, AbortSignal.timeout(healingTimeoutMs)]);
    for (const heuristic of heuristics) {
      const attempt = (this.#tries.get(heuristic) ?? 0) + 1;
      if (attempt > heuristic.attempts || !heuristic.fits(failure, { operation, input: this.#input })) continue;
      if (witness.signal.aborted) return false;
      this.#tries.set(heuristic, attempt);
      if (await this.#apply(heuristic, this.#circumstances(failure, attempt, this.#deadline))) return true;
    }
    return false;
  }

  /** Whether running it again cannot repeat an effect. */
  #isSafe(failure: Failure): boolean {
    return failure.isBeforeEffect || this.#case.operation.idempotent === true;
  }

  async #apply(heuristic: Heuristic, circumstances: Circumstances): Promise<boolean> {
    const { operation, witness } = this.#case;
    const { failure, attempt, signal } = circumstances;
    const { action, severity, description, issue = failure.code, decision = action } = heuristic;
    if (!this.#tried.includes(action)) {
      this.#tried.push(action);
      // The failure's own words may tell of the inside: they go where only administrators see them in production.
      const metadata = { cause: failure.message };
      const original_intent = operation.name;
      await witness.emit({ type: "intent_analysis", original_intent, detected_issue: issue, decision, metadata });
    }
    const metadata = { attempt, cause: failure.code };
    await witness.emit({ type: "healing", severity, action, description, metadata });
    try {
      const mended = await orAborted(heuristic.mend(circumstances), signal);
      if (mended === undefined) throw new Unhealed("it cannot be mended this way.");
      await this.#take(mended, heuristic, attempt);
      this.#unproven.push({ action, issue: failure.code, attempt });
      return true;
    } catch (thrown) {
      await this.#regret(heuristic, circumstances, thrown);
      return false;
    }
  }

  async #take(mended: Mended, { action, severity }: Heuristic, attempt: number): Promise<void> {
    if (mended.input !== undefined) this.#input = mended.input;
    if (mended.token !== undefined) this.#token = mended.token;
    if (mended.metadata === undefined) return;
    const metadata = { attempt, ...mended.metadata };
    const description = "Done: trying the operation again.";
    await this.#case.witness.emit({ type: "healing", severity, action, description, metadata });
  }

  async #regret({ action, severity }: Heuristic, { attempt, signal }: Circumstances, thrown: unknown): Promise<void> {
    const { witness, healingTimeoutMs } = this.#case;
    const isLate = signal.aborted && !witness.signal.aborted;
    const told = thrown instanceof Unhealed ? thrown.message : `${failureOf(thrown).code}.`;
    const why = isLate ? `healing stopped after ${healingTimeoutMs} ms.` : told;
    const metadata = { attempt, success: false, ...(isLate ? { timed_out: true } : {}) };
    await witness.emit({ type: "healing", severity, action, description: `It did not work: ${why}`, metadata });
  }

  #circumstances(failure: Failure, attempt: number, signal: AbortSignal): Circumstances {
    const { operation, witness, healingTimeoutMs } = this.#case;
    return {
      failure,
      operation,
      input: this.#input,
      attempt,
      signal,
      hide: witness.hide,
      async rest(ms, message) {
        if (ms > healingTimeoutMs) throw new Unhealed(`a wait of ${ms} ms is longer than healing may take.`);
        await witness.emit({ type: "status", message, estimated_delay_ms: ms });
        await rest(ms, signal);
      },
    };
  }

  /** A person may allow what no rule may: trying again what perhaps had an effect. */
  async #askPerson(failure: Failure): Promise<boolean> {
    const { operation, witness, questions } = this.#case;
    if (witness.ask === undefined || this.#asked >= questions) return false;
    this.#asked++;
    const risk = this.#isSafe(failure) ? "" : " It may already have had its effect.";
    const description = `${operation.name} failed with ${failure.code}.${risk} Shall it be tried again?`;
    const answer = await witness.ask({ description, options: ["retry", ESCALATE] });
    await witness.emit({ type: "status", message: `The answer is: ${answer}.` });
    if (answer !== "retry") return false;
    this.#tries.clear();
    this.#deadline = undefined;
    this.#tried.push("ask_person");
    return true;
  }
}
