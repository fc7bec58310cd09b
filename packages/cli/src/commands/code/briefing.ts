import { CODE_LIMITS } from "@vidro/core";
import type { Hand, RunFacts } from "@vidro/core";
import { changedFacts, changesText, factsText } from "@vidro/core/run";
import type { BrainRuns } from "../../brain-api/brain-api.ts";

/** What the model is told before a task, and the files that it comes from. */
export interface Briefing {
  readonly content: string;
  readonly file_paths: readonly string[];
}

/** Tells where the tasks of a conversation work and what the project's AGENTS.md files say: whole once, then what changed. */
export class Briefer {
  readonly #hand: Hand;
  #told: RunFacts | undefined;

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  /** What the model is told before the next task; undefined when it has been told everything. */
  async brief(): Promise<Briefing | undefined> {
    const date = new Date().toISOString().slice(0, "2026-12-01".length);
    const now: RunFacts = { ...(await this.#hand.surroundings?.()), date };
    const before = this.#told;
    this.#told = now;
    if (before === undefined) return { content: factsText(now), file_paths: pathsIn(now) };
    const changes = changedFacts(before, now);
    return changes === undefined ? undefined : { content: changesText(changes), file_paths: pathsIn(changes) };
  }
}

function pathsIn({ guides = [] }: Partial<RunFacts>): readonly string[] {
  return guides.map(({ path }) => path);
}

/** The newest run of a folder that has ended. */
export async function lastRunIn(runs: BrainRuns, workspace: string): Promise<string | undefined> {
  for (const { id, status } of await runs.list({ limit: CODE_LIMITS.searchedRuns })) {
    if (status === "running" || status === "asking") continue;
    if ((await folderOf(runs, id)) === workspace) return id;
  }
  return undefined;
}

async function folderOf(runs: BrainRuns, run: string): Promise<string | undefined> {
  for await (const { event } of runs.entries(run, 1)) if (event.type === "run.started") return event.workspace;
  return undefined;
}
