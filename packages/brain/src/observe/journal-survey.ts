import { setTimeout as sleep } from "node:timers/promises";
import { asFault, FOLLOW_LIMITS, HEALTH_LIMITS } from "@vidro/core";
import type { Journal } from "@vidro/core";
import type { Log } from "./log.ts";

/**
 * Reads the journals of the newest runs once, slowly, so that damage is known before a client asks for a damaged run:
 * the store remembers what it could not read.
 */
export class JournalSurvey {
  readonly #journal: Pick<Journal, "list" | "read">;
  readonly #log: Log;
  readonly #end = new AbortController();
  #walk: Promise<void> = Promise.resolve();

  constructor(journal: Pick<Journal, "list" | "read">, log: Log) {
    this.#journal = journal;
    this.#log = log;
  }

  /** Starts in the background. */
  start(): void {
    this.#walk = this.#all().catch((thrown: unknown) => this.#tell("list", thrown));
  }

  /** Stops between two reads. */
  close(): Promise<void> {
    this.#end.abort();
    return this.#walk;
  }

  async #all(): Promise<void> {
    await this.#rest();
    for (const { id, damaged } of await this.#journal.list({ limit: HEALTH_LIMITS.surveyedRuns })) {
      if (this.#end.signal.aborted) return;
      if (damaged === undefined) await this.#one(id).catch((thrown: unknown) => this.#tell(id, thrown));
      else this.#log("run.unreadable", { run_id: id, code: "JOURNAL_CORRUPT", reason: damaged });
    }
  }

  async #one(run: string): Promise<void> {
    for (let after = 0; !this.#end.signal.aborted;) {
      const entries = await this.#journal.read(run, after, FOLLOW_LIMITS.batch);
      await this.#rest();
      if (entries.length < FOLLOW_LIMITS.batch) return;
      after = entries.at(-1)?.seq ?? after;
    }
  }

  #tell(run: string, thrown: unknown): void {
    if (this.#end.signal.aborted) return;
    const { code, message } = asFault(thrown);
    this.#log("run.unreadable", { run_id: run, code, reason: message });
  }

  async #rest(): Promise<void> {
    await sleep(HEALTH_LIMITS.surveyRestMs, undefined, { signal: this.#end.signal, ref: false }).catch(() => undefined);
  }
}
