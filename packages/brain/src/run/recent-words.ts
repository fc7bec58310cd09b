import { FOLLOW_LIMITS } from "@vidro/core";
import type { LiveItem, ModelDelta, ModelThinking } from "@vidro/core";

type Words = LiveItem & { event: ModelDelta | ModelThinking };

/**
 * What models have said since the last entry of each run, for followers that come while a model speaks: one that reads
 * its journal first, as a store on another machine makes it, would miss the first words.
 */
export class RecentWords {
  /** By run, those that spoke last at the end; neighbouring pieces are joined. */
  readonly #kept = new Map<string, Words[]>();
  #chars = 0;

  /** Keeps a piece; other live events are left out. */
  add(run: string, { after, event }: LiveItem): void {
    if (event.type === "action.output") return;
    let words = this.#kept.get(run);
    if (words === undefined || words[0]?.after !== after || words.length >= FOLLOW_LIMITS.recentPieces) {
      this.#forget(run);
      words = [];
      this.#kept.set(run, words);
    }
    const last = words.at(-1)?.event;
    this.#chars += event.text.length;
    if (last?.type === event.type && last.from + last.text.length === event.from)
      words[words.length - 1] = { after, event: { ...last, text: last.text + event.text } };
    else words.push({ after, event });
    const [oldest] = this.#chars > FOLLOW_LIMITS.recentChars ? this.#kept.keys() : [];
    if (oldest !== undefined) this.#forget(oldest);
  }

  /** What a model has said in a run since its last entry, in order. */
  of(run: string): readonly LiveItem[] {
    return this.#kept.get(run) ?? [];
  }

  #forget(run: string): void {
    for (const { event } of this.#kept.get(run) ?? []) this.#chars -= event.text.length;
    this.#kept.delete(run);
  }
}
