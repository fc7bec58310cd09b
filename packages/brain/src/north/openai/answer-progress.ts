import { aonEntry } from "@vidro/core/wire/aon";
import type { Entry, HealTried } from "@vidro/core";
import type { ProgressReporter } from "../../http/route.ts";

type ReportedHealing = Parameters<ProgressReporter["healing"]>[0];

/** Reports the progress of an answer, entry by entry; its end is the answer itself. */
export class AnswerProgress {
  readonly #run: string;
  readonly #tell: ProgressReporter;
  /** Healings whose success shows in the next reply. */
  #tried: HealTried[] = [];

  constructor(run: string, tell: ProgressReporter) {
    this.#run = run;
    this.#tell = tell;
  }

  /** Reports an entry. */
  entry(entry: Entry): void {
    const { event } = entry;
    if (event.type === "intent.analyzed") {
      const { originalIntent, detectedIssue, decision } = event;
      return this.#tell.intent({ original_intent: originalIntent, detected_issue: detectedIssue, decision });
    }
    if (event.type === "heal.tried") this.#tried.push(event);
    if (event.type === "model.replied") this.#reportHealing();
    const line = aonEntry(this.#run, entry);
    if (line["type"] === "status") this.#tell.status(line["message"] as string);
    if (line["type"] === "healing") this.#tell.healing(line as unknown as ReportedHealing);
  }

  #reportHealing(): void {
    for (const { healing, attempt } of this.#tried) {
      const metadata = { attempt, success: true };
      this.#tell.healing({ severity: "low", action: healing, description: "It helped.", metadata });
    }
    this.#tried = [];
  }
}
