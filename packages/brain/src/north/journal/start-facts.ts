import { PAGE_LIMITS } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import type { Runs } from "../../run/runs.ts";

/** What a run was started with, beyond its head in a list. */
interface StartFacts {
  readonly agent: string;
  readonly model: string;
  readonly hand: string;
  /** The run and the entry that it was forked from. */
  readonly forked?: { readonly run: string; readonly seq: number };
}

/** Reads what runs were started with from their first entries, which never change; the latest ones are kept. */
export class StartFactsReader {
  readonly #known = new Map<string, StartFacts>();

  /** What a run was started with; nothing for a journal that cannot be read. */
  async read(runs: Pick<Runs, "read">, { id, damaged }: RunHead): Promise<StartFacts | undefined> {
    const known = this.#known.get(id);
    if (known !== undefined || damaged !== undefined) return known;
    const [first] = await runs.read(id, 0, 1);
    if (first?.event.type !== "run.started") return undefined;
    const { agent, model, hand, forked } = first.event;
    const from = forked === undefined ? {} : { forked: { run: forked.run, seq: forked.seq } };
    const facts = { agent, model, hand, ...from };
    this.#known.set(id, facts);
    const [oldest] = this.#known.size > PAGE_LIMITS.items ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    return facts;
  }
}
