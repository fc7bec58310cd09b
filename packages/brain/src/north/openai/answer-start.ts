import { setImmediate as nextTurn } from "node:timers/promises";
import { CHAT_LIMITS, Fault, RUN_LIMITS } from "@vidro/core";
import type { QuestionAsked, RunHead, Turn } from "@vidro/core";
import type { Runs, StartRequest } from "../../run/runs.ts";
import type { AnswerRights } from "../approval-rights.ts";
import { isAnswerTo, openQuestion } from "../question-words.ts";
import { readCallId } from "./answer.ts";
import { findWaitingCall, readExchange, findWaitingQuestion } from "./questions.ts";
import type { ReturnedResult, SentConversation } from "./request.ts";
import { soleOf } from "./sole-answer.ts";

/** The run of an answer, and the entry after which the answer begins. */
interface AnswerStart {
  readonly run: string;
  readonly after: number;
}

/** Settings of a new run besides its task and history. */
export type ChatSetting = Omit<StartRequest, "task" | "history"> & {
  readonly owner: string;
  /** The thread that a new run belongs to, where the client keeps the conversation. */
  readonly continues?: string;
};

/** The client that sent the request. */
interface ChatClient {
  /** Whether the client was shown a run. */
  readonly wasShown: (run: string) => boolean;
  readonly rights: AnswerRights;
}

/** Finds the run that answers a request: one that waits for it, one that it started before, or a new one. */
export async function findAnswerStart(
  runs: Runs,
  { asked, setting, client }: { asked: SentConversation; setting: ChatSetting; client: ChatClient },
): Promise<AnswerStart> {
  const { owner, thread } = setting;
  const filter = { owner, ...(thread === undefined ? {} : { thread }), open: true };
  const open = await runs.list({ ...filter, limit: CHAT_LIMITS.openRuns });
  const returned = asked.returned && (await handBack(runs, asked.returned, { ...setting, task: asked.task, open }));
  if (returned !== undefined) return returned;
  const said = open.find((head) => runs.hasTask(head, asked.task));
  // A request repeated under its key belongs to the run that it started, whatever that run waits for.
  const isRepeated = setting.key !== undefined && said !== undefined;
  const waiting = isRepeated ? undefined : await findWaitingQuestion(runs, asked, { thread, open });
  if (waiting !== undefined) {
    const { head, question, seq } = waiting;
    // A caller that keeps the conversation has sent the question along. A message that is no answer gets the question
    // again.
    const isShown = thread === undefined || client.wasShown(head.id);
    if (!isAnswerTo(waiting, asked.task, isShown)) return { run: head.id, after: seq - 1 };
    await runs.answer(head.id, {
      text: asked.task,
      by: owner,
      question: question.id,
      ...client.rights,
    });
    return { run: head.id, after: seq };
  }
  const sent = asked.returned?.conversation ?? asked.earlier;
  // A stored conversation has one open run at a time, and the same message again belongs to that.
  if (thread !== undefined && setting.key === undefined && said !== undefined) return { run: said.id, after: 0 };
  if (thread !== undefined && !isRepeated) await makeRoom(runs, open);
  const isWhole = thread === undefined || asked.returned !== undefined;
  const isFirst = thread !== undefined && (await runs.list({ owner, thread, limit: 1 })).length === 0;
  const turns = isWhole || isFirst ? { history: sent } : { added: addedTurns(asked) };
  const into = thread ?? setting.continues;
  const { run, existed } = await runs.start({
    ...setting,
    ...soleOf(setting, asked),
    ...(into === undefined ? {} : { thread: into }),
    task: asked.task,
    ...(asked.files === undefined ? {} : { files: asked.files }),
    ...turns,
  });
  // The run calls its model in this turn of the event loop; the client is served while the model works.
  await nextTurn();
  // Another message has come into the conversation at the same moment.
  if (existed && !runs.hasTask(run, asked.task)) throw busy(run, undefined);
  return { run: run.id, after: 0 };
}

/**
 * Hands the caller's result to the run that waits for it; the same result again finds the same place. The result of a
 * call that no run of the caller's made has none: it is part of a conversation that was held elsewhere.
 */
async function handBack(
  runs: Runs,
  returned: ReturnedResult,
  where: { owner: string; task: string; open: readonly RunHead[] },
): Promise<AnswerStart | undefined> {
  const named = returned.callId === undefined ? undefined : readCallId(returned.callId);
  const found =
    named === undefined
      ? await findWaitingCall(runs, returned, where)
      : { head: await runs.find(named.run, where.owner), question: named.question };
  if (found === undefined && where.task !== "" && returned.call !== undefined) return undefined;
  if (found === undefined) throw new Fault("NOT_FOUND", "No run waits for this result: the call is not one of ours.");
  const { id: run } = found.head;
  const { asked, answered } = await readExchange(runs, found.head, found.question);
  const text = returned.text.slice(0, RUN_LIMITS.answerChars);
  if (answered === undefined) await runs.answer(run, { text, by: where.owner, question: found.question });
  else if (answered.by === undefined)
    throw new Fault("CONFLICT", "The result came too late: the run went on without it.");
  else if (answered.answer !== text) throw new Fault("CONFLICT", "This call has another result already.");
  return { run, after: asked.seq };
}

/** Aborts a run that waits for a call result which its caller has given up; CONFLICT while another run is at work. */
async function makeRoom(runs: Runs, open: readonly RunHead[]): Promise<void> {
  for (const head of open) {
    const question = (await openQuestion(runs, head))?.question;
    if (question?.about.kind !== "call") throw busy(head, question);
    await runs.abort(head.id, "The caller went on without the result.").catch(async (thrown: unknown) => {
      // The same request at the same moment has aborted it.
      const { status } = await runs.find(head.id);
      if (status === "running" || status === "asking") throw thrown;
    });
  }
}

function busy({ id }: RunHead, question: QuestionAsked | undefined): Fault {
  const standing = question === undefined ? "is still at work" : `waits for a person: ${question.text}`;
  return new Fault("CONFLICT", `Run ${id} of this conversation ${standing}. Wait for it, or abort it.`);
}

/** The messages that a caller added to a stored conversation since the last answer. */
function addedTurns({ earlier }: SentConversation): readonly Turn[] {
  return earlier.slice(earlier.findLastIndex((turn) => turn.role !== "user") + 1);
}
