import { canonicalJson, Fault } from "@vidro/core";
import type { Entry, QuestionAnswered, RunHead } from "@vidro/core";
import type { Runs } from "../../run/runs.ts";
import { onlyOne, openQuestion, questionText, takesWords, findWaiting } from "../question-words.ts";
import type { WaitingRun } from "../question-words.ts";
import type { ChatInput, ReturnedResult } from "./request.ts";
import { inputOf } from "./turns.ts";

/* Which run waits for what: read from the journals of a caller's open runs. */

/** A question of a run. */
interface FoundQuestion {
  readonly head: RunHead;
  readonly question: string;
}

/** The open run whose call this result answers, by what was called where nothing else names it. */
export async function findWaitingCall(
  runs: Runs,
  { call, callId }: ReturnedResult,
  { task, open }: { task: string; open: readonly RunHead[] },
): Promise<FoundQuestion | undefined> {
  // An id that is neither ours nor one that the conversation itself has says that this is about something else.
  if (callId !== undefined && call === undefined) return undefined;
  for (const head of open) {
    const question = (await openQuestion(runs, head))?.question;
    if (question?.about.kind !== "call" || (task !== "" && task.trim() !== head.task)) continue;
    const { tool, input } = question.about.call;
    const same = call?.arguments ? canonicalJson(inputOf(call.arguments)) === canonicalJson(input) : true;
    if (same && (call === undefined || call.name === tool)) return { head, question: question.id };
  }
  return undefined;
}

/** The open question that the caller's words answer: the one of the thread, or the one that was said last. */
export async function findWaitingQuestion(
  runs: Runs,
  { earlier }: ChatInput,
  { thread, open }: { thread: string | undefined; open: readonly RunHead[] },
): Promise<WaitingRun | undefined> {
  const said = earlier.at(-1);
  if (thread === undefined && said?.role !== "assistant") return undefined;
  const waiting = (await findWaiting(runs, open)).filter(takesWords);
  if (thread !== undefined) return onlyOne(waiting);
  // Words may have come before the question in the same message.
  const words = said?.text.trimEnd() ?? "";
  return waiting.find(({ head, question }) => words.endsWith(questionText(question, head.id).trimEnd()));
}

/** A question of a run and its answer, if it has one. */
export async function readExchange(
  runs: Runs,
  head: RunHead,
  id: string,
): Promise<{ readonly asked: Entry; readonly answered: QuestionAnswered | undefined }> {
  let asked: Entry | undefined;
  for await (const entry of readEntries(runs, head)) {
    const { event } = entry;
    if (event.type === "question.asked" && event.id === id && event.about.kind === "call") asked = entry;
    if (event.type === "question.answered" && event.id === id && asked !== undefined) return { asked, answered: event };
  }
  if (asked === undefined) throw new Fault("NOT_FOUND", `Run ${head.id} made no such call.`);
  return { asked, answered: undefined };
}

/** The entries that a run has now; what it adds later is not waited for. */
export async function* readEntries(runs: Runs, head: RunHead): AsyncGenerator<Entry> {
  for await (const followed of runs.follow(head.id)) {
    if (!("entry" in followed)) continue;
    yield followed.entry;
    if (followed.entry.seq >= head.seq) return;
  }
}
