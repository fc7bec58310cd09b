import { isTerminal, MCP_LIMITS } from "@vidro/core";
import { aonEntry } from "@vidro/core/wire/aon";
import type { Entry, QuestionAsked, RunHead } from "@vidro/core";
import { openQuestion, questionShape, questionText } from "../question-words.ts";
import type { McpCall, McpOutcome } from "./mcp-tool.ts";

/** Where to follow a run from, and for how long. */
interface FollowRange {
  readonly after: number;
  readonly waitMs: number;
}

/** How a run stood when it was no longer followed. */
export interface RunReport {
  readonly head: RunHead;
  /** The entries that were read, in order. */
  readonly entries: readonly Entry[];
  readonly question?: QuestionAsked;
}

/** Follows a run until it ends, asks, or has taken as long as the call waits, and tells the client of each entry. */
export async function followRunFor(run: string, { after, waitMs }: FollowRange, call: McpCall): Promise<RunReport> {
  const { runs } = call.deps;
  const entries: Entry[] = [];
  const enough = AbortSignal.timeout(waitMs);
  for await (const item of runs.follow(run, after, AbortSignal.any([call.signal, enough]))) {
    if (!("entry" in item)) continue;
    entries.push(item.entry);
    call.progress(item.entry.seq, progressText(run, item.entry));
    if (item.entry.event.type !== "question.asked") continue;
    const asking = await waitingReport(run, call);
    // Another client may have answered an earlier question meanwhile.
    if (asking.question?.id === item.entry.event.id) return { ...asking, entries };
  }
  return { ...(await waitingReport(run, call)), entries };
}

async function waitingReport(run: string, { deps: { runs } }: McpCall): Promise<Omit<RunReport, "entries">> {
  const head = await runs.find(run);
  const waiting = await openQuestion(runs, head);
  return { head, ...(waiting === undefined ? {} : { question: waiting.question }) };
}

function progressText(run: string, entry: Entry): string {
  const { message, description } = aonEntry(run, entry);
  const text = typeof message === "string" ? message : typeof description === "string" ? description : "";
  return (text === "" ? entry.event.type : text).slice(0, MCP_LIMITS.progressChars);
}

/** A report for the client: the answer, the fault, the question, or how to follow on. */
export function reportOutcome({ head, entries, question }: RunReport): McpOutcome {
  const last = entries.at(-1);
  const seq = last?.seq ?? head.seq;
  const facts = { run: head.id, thread: head.thread, status: head.status, seq };
  const end = last !== undefined && isTerminal(last.event) ? last.event : undefined;
  if (end?.type === "run.finished") {
    const { result, unmet = false } = end;
    const text = typeof result === "string" ? result : JSON.stringify(result);
    return { text, data: { ...facts, result, ...(unmet ? { unmet } : {}) }, isError: unmet };
  }
  if (end?.type === "run.failed") {
    const { code, message } = end.fault;
    return { text: `${code}: ${message}`, data: { ...facts, error: { code, message } }, isError: true };
  }
  if (end?.type === "run.aborted")
    return { text: `The task was stopped: ${end.reason}`, data: { ...facts, reason: end.reason }, isError: true };
  if (question !== undefined)
    return {
      text: `The task waits for an answer.\n${questionText(question, head.id)}\nAnswer it with answer_task: run ${head.id}, question ${question.id}.`,
      data: { ...facts, question: questionShape(question, head.id) },
    };
  return {
    text: `The task is ${head.status}. Go on with follow_task: run ${head.id}, after ${seq}.`,
    data: facts,
  };
}
