import { CODE_LIMITS } from "@vidro/core";
import type { Hand } from "@vidro/core";
import { factsText } from "@vidro/core/run";
import type { BrainRuns } from "../../brain-api/brain-api.ts";

/** What the model is told before a task, and the files that it comes from. */
export interface Briefing {
  readonly content: string;
  readonly file_paths: readonly string[];
}

/** A task of this folder and its answer. */
export interface CodeTurn {
  readonly task: string;
  readonly answer: string;
}

const EARLIER_MARK = "Earlier in this folder, the newest last:";

/** Where the task works, what the project's AGENTS.md files say, and what was done in this folder before. */
export async function aboutProject(hand: Hand, earlier: readonly CodeTurn[]): Promise<Briefing> {
  const facts = (await hand.surroundings?.()) ?? {};
  const date = new Date().toISOString().slice(0, "2026-12-01".length);
  const parts = [
    factsText({ ...facts, date }),
    ...(earlier.length === 0 ? [] : [`${EARLIER_MARK}\n${conversationText(earlier)}`]),
  ];
  return { content: parts.join("\n\n"), file_paths: (facts.guides ?? []).map(({ path }) => path) };
}

/** The newest turns that fit. */
function conversationText(turns: readonly CodeTurn[]): string {
  const texts = turns.map(({ task, answer }) => `Task: ${task}\nAnswer: ${answer}`);
  return texts.join("\n\n").slice(-CODE_LIMITS.earlierChars);
}

/** The tasks of the newest runs in a folder, oldest first. */
export async function lastConversation(runs: BrainRuns, workspace: string): Promise<readonly CodeTurn[]> {
  const turns: CodeTurn[] = [];
  for (const { id } of await runs.list({ limit: CODE_LIMITS.searchedRuns })) {
    const folder = await folderOf(runs, id);
    if (folder === workspace) turns.unshift(await turnOf(runs, id));
    if (turns.length === CODE_LIMITS.earlierTurns) break;
  }
  return turns;
}

async function folderOf(runs: BrainRuns, run: string): Promise<string | undefined> {
  for await (const { event } of runs.entries(run, 1)) if (event.type === "run.started") return event.workspace;
  return undefined;
}

/** The task of a run and its answer, or how else it ended. */
export async function turnOf(runs: BrainRuns, run: string): Promise<CodeTurn> {
  let turn: CodeTurn = { task: "", answer: "(it has not ended)" };
  for await (const { event } of runs.entries(run)) {
    if (event.type === "run.started") turn = { ...turn, task: event.task };
    if (event.type === "run.finished")
      turn = { ...turn, answer: typeof event.result === "string" ? event.result : JSON.stringify(event.result) };
    if (event.type === "run.failed") turn = { ...turn, answer: `(failed: ${event.fault.message})` };
    if (event.type === "run.aborted") turn = { ...turn, answer: `(stopped: ${event.reason})` };
  }
  return turn;
}
