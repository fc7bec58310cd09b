import { canonicalJson, Fault } from "@vidro/core";
import type { Entry, QuestionAnswered, RunHead } from "@vidro/core";
import type { Runs } from "../../run/runs.ts";
import { onlyOne, openQuestion, questionText, takesWords, findWaiting } from "../question-words.ts";
import type { WaitingRun } from "../question-words.ts";
import type { ReturnedResult, SentConversation } from "./request.ts";
import { inputOf } from "./turns.ts";

/* Finds what a caller's open runs wait for, from their journals. */

/** A question of a run. */
interface FoundQuestion {
  readonly head: RunHead;
  readonly question: string;
}

/** The open run that waits for this result, found by tool and input where no id names it. */
export async function findWaitingCall(
  runs: Runs,
  { call, callId }: ReturnedResult,
  { task, open }: { task: string; open: readonly RunHead[] },
): Promise<FoundQuestion | undefined> {
  // An id that is neither ours nor in the conversation belongs to a call made elsewhere.
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

/** The open question that a message may answer: that of the thread, or the one that the conversation ends with. */
export async function findWaitingQuestion(
  runs: Runs,
  { earlier }: SentConversation,
  { thread, open }: { thread: string | undefined; open: readonly RunHead[] },
): Promise<WaitingRun | undefined> {
  const said = earlier.at(-1);
  if (thread === undefined && said?.role !== "assistant") return undefined;
  const waiting = (await findWaiting(runs, open)).filter(takesWords);
  if (thread !== undefined) return onlyOne(waiting);
  // Text may come before the question in the same message.
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

/** The entries of a run up to its current end. */
export async function* readEntries(runs: Runs, head: RunHead): AsyncGenerator<Entry> {
  for await (const followed of runs.follow(head.id)) {
    if (!("entry" in followed)) continue;
    yield followed.entry;
    if (followed.entry.seq >= head.seq) return;
  }
}
