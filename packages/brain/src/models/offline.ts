import { setImmediate } from "node:timers/promises";
import { asFault, Fault } from "@vidro/core";
import type { Model, ModelEvent, ModelReply, ModelRequest } from "@vidro/core";
import type { Move } from "./offline/walk.ts";

const NAME = "offline";

/**
 * The built-in model: rules for questions about a machine and a folder, in English, Portuguese and Spanish. It keeps
 * nothing between calls and takes every figure from the output of tools.
 */
export function offlineModel(): Model {
  return { name: NAME, call: (request, signal) => stream(request, signal) };
}

async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const aborted: ModelEvent = { type: "failed", fault: { code: "MODEL_CUT", message: "The call was aborted." } };
  let move: Move;
  try {
    // Loaded with the first call, to keep the start short, and once followers have shown that the run began: nothing
    // else is done while files load.
    await setImmediate();
    if (request.isSummary === true) throw new Fault("MODEL_REFUSED", "The built-in model writes no summaries.");
    const { nextMove } = await import("./offline/walk.ts");
    move = nextMove(request);
  } catch (thrown) {
    yield { type: "failed", fault: asFault(thrown).report() };
    return;
  }
  if ("answer" in move) {
    for (const text of move.answer.match(/\s*\S+\s*$|\s*\S+/g) ?? []) {
      if (signal.aborted) break;
      yield { type: "delta", text };
    }
  }
  yield signal.aborted ? aborted : { type: "replied", reply: replyOf(move) };
}

function replyOf(move: Move): ModelReply {
  const usage = { inputTokens: 0, outputTokens: 0 };
  if ("answer" in move) {
    const { answer: text, unmet } = move;
    return { model: NAME, text, calls: [], usage, ...(unmet === undefined ? {} : { unmet }) };
  }
  const text = move.plan.length === 0 ? "" : JSON.stringify({ type: "plan", steps: move.plan });
  return { model: NAME, text, calls: [{ id: move.id, ...move.call }], usage };
}
