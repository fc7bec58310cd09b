import { Fault } from "@vidro/core";
import type { FaultReport, JsonObject, Turn } from "@vidro/core";
import type { StoredResponse } from "../../../catalog/responses.ts";
import type { Runs } from "../../../run/runs.ts";
import { answerEnding, AnswerText } from "../answer.ts";
import type { AnswerContext, WholeAnswer } from "../answer.ts";
import { toolsOf } from "../begin-answer.ts";
import { readEntries } from "../questions.ts";
import { runMessages } from "../transcript.ts";
import type { ChatMessage } from "../schema.ts";
import { messageTurns } from "../turns.ts";
import { outputItems, wholeProgress } from "./shape.ts";
import type { ResponseAnswer, ResponseProgress } from "./shape.ts";

/* Responses that were given before, read from the journals of their runs. */

/** A response as far as its journal has it. */
interface JournalAnswer {
  readonly status: "in_progress" | "whole" | "failed" | "cancelled";
  readonly whole?: WholeAnswer;
  readonly words: AnswerText;
  readonly fault?: FaultReport;
  /** The entry that ended the response, or the last one so far. */
  readonly seq: number;
}

/** Reads the answer that begins after an entry of a run. */
async function readJournalAnswer(
  runs: Runs,
  { run, after }: Pick<AnswerContext, "run" | "after">,
  owner: string,
): Promise<JournalAnswer> {
  const words = new AnswerText();
  let seq = after;
  for await (const entry of readEntries(runs, await runs.find(run, owner))) {
    if (entry.seq <= after) continue;
    seq = entry.seq;
    words.add(entry);
    const { event } = entry;
    if (event.type === "run.aborted") return { status: "cancelled", words, seq };
    if (event.type === "run.failed") return { status: "failed", words, seq, fault: event.fault };
    const ending = answerEnding(entry, run);
    if (ending !== undefined) return { status: "whole", whole: { ending, words }, words, seq };
  }
  return { status: "in_progress", words, seq };
}

/** How far a response is. */
export async function readProgress(runs: Runs, answering: ResponseAnswer, owner: string): Promise<ResponseProgress> {
  const { status, whole, words, fault } = await readJournalAnswer(runs, answering, owner);
  if (whole !== undefined) return wholeProgress(answering, whole);
  if (status === "in_progress" || status === "whole") return { status: "in_progress" };
  return { status, used: words.used, ...(fault === undefined ? {} : { fault }) };
}

/** A stored response as an answer. */
export async function answerOf(runs: Runs, stored: StoredResponse): Promise<ResponseAnswer> {
  const { run, after, model, createdAt, echo } = stored;
  return { run, after, model, at: createdAt, echo, tools: await toolsOf(runs, run) };
}

/**
 * The turns of a response and all before it, and the call that it ended with; CONFLICT while the response is being
 * worked on.
 */
export async function turnsOfResponse(
  runs: Runs,
  stored: StoredResponse,
): Promise<{ readonly turns: readonly Turn[]; readonly call: string | undefined; readonly thread: string }> {
  const { run, owner, id } = stored;
  const head = await runs.find(run, owner);
  const { status, whole, seq } = await readJournalAnswer(runs, stored, owner);
  if (status === "in_progress") throw new Fault("CONFLICT", `Response ${id} is still being worked on. Wait for it.`);
  const call = whole?.ending.finish === "call" ? whole.ending.id : undefined;
  return { turns: await turnsUntil(runs, stored, seq), call, thread: head.thread };
}

/** The turns of a run and its history, up to an entry. */
export async function turnsUntil(
  runs: Runs,
  { run, owner }: Pick<StoredResponse, "run" | "owner">,
  seq: number,
): Promise<readonly Turn[]> {
  const [first] = await runs.read(run, 0, 1);
  const history = first?.event.type === "run.started" ? first.event.history : [];
  const messages = await runMessages(runs, { ...(await runs.find(run, owner)), seq });
  return [...history, ...messageTurns(messages as unknown as readonly ChatMessage[])];
}

/** The items of the answer at a place. */
export async function itemsAt(
  runs: Runs,
  place: Pick<AnswerContext, "run" | "after">,
  owner: string,
): Promise<readonly JsonObject[]> {
  const { whole } = await readJournalAnswer(runs, place, owner);
  if (whole === undefined) return [];
  return outputItems({ ...place, model: "", at: 0, echo: {}, tools: await toolsOf(runs, place.run) }, whole);
}

/** Turns as items; each has an id, by which a list goes on. */
export function turnItems(run: string, turns: readonly Turn[]): readonly JsonObject[] {
  return turns.flatMap((turn, index): JsonObject[] => {
    const id = `item_${run}_${index}`;
    if (turn.role === "user")
      return [
        { id, type: "message", role: "user", status: "completed", content: [{ type: "input_text", text: turn.text }] },
      ];
    if (turn.role === "tool")
      return [{ id, type: "function_call_output", call_id: turn.callId, status: "completed", output: turn.text }];
    const content = [{ type: "output_text", text: turn.text, annotations: [] }];
    const said = turn.text === "" ? [] : [{ id, type: "message", role: "assistant", status: "completed", content }];
    if (turn.action === undefined) return said;
    const { tool, input, callId } = turn.action;
    const called = { type: "function_call", status: "completed", name: tool, arguments: JSON.stringify(input) };
    return [...said, { id: `${id}c`, ...called, call_id: callId }];
  });
}
