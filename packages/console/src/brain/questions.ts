import { CONSOLE_LIMITS } from "@vidro/core";
import type { Entry, RunHead } from "@vidro/core";
import { foldConversation, NO_ITEMS } from "../run/conversation.ts";
import type { QuestionItem } from "../run/conversation.ts";
import { vidro } from "./connection.ts";

/** A question, and what the model said before it asked; nothing where it only asked. */
interface AskedQuestion {
  readonly item: QuestionItem;
  readonly said: string;
}

/** An open question, and the run that waits for its answer. */
export interface OpenQuestion extends AskedQuestion {
  readonly run: RunHead;
}

const known = new Map<string, Promise<AskedQuestion | undefined>>();

/** The open questions of all runs, oldest first. */
export async function readQuestions(): Promise<readonly OpenQuestion[]> {
  const runs = (await vidro.list({ open: true, limit: CONSOLE_LIMITS.openRuns })).filter(
    ({ status }) => status === "asking",
  );
  const found = await Promise.all(runs.map(async (run) => ({ run, asked: await questionOf(run) })));
  return found
    .flatMap(({ run, asked }) => (asked === undefined ? [] : [{ run, ...asked }]))
    .sort((a, b) => a.item.askedAt - b.item.askedAt);
}

/** The open question of a run; read once for each position of its journal. */
async function questionOf(run: RunHead): Promise<AskedQuestion | undefined> {
  const key = `${run.id} ${run.seq}`;
  const asked = known.get(key) ?? readQuestion(run);
  known.set(key, asked);
  for (const [old] of known.size > CONSOLE_LIMITS.openRuns * 2 ? known : [])
    if (known.size > CONSOLE_LIMITS.openRuns) known.delete(old);
  return asked.catch((thrown: unknown) => {
    known.delete(key);
    throw thrown;
  });
}

async function readQuestion({ id, seq }: RunHead): Promise<AskedQuestion | undefined> {
  const done = new AbortController();
  const entries: Entry[] = [];
  const after = Math.max(0, seq - CONSOLE_LIMITS.entriesBeforeQuestion);
  for await (const item of vidro.attach(id).follow({ after, live: false, signal: done.signal })) {
    if ("entry" in item) entries.push(item.entry);
    if ("entry" in item && item.entry.seq >= seq) break;
  }
  done.abort();
  const start = { ...NO_ITEMS, items: [], actions: new Map<string, number>() };
  const { items, question } = entries.reduce(foldConversation, start);
  const item = question === undefined ? undefined : items[question];
  if (question === undefined || item?.kind !== "question") return undefined;
  // The action that is asked about stands between the words and the question.
  const before = items.slice(0, question).findLast((one) => one.kind !== "action" || one.startedAt !== undefined);
  return { item, said: before?.kind === "said" ? before.text : "" };
}
