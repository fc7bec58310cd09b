import type { ContextCompacted, Turn } from "../event.ts";
import type { FaultReport } from "../fault.ts";
import { MODEL_LIMITS } from "../limits.ts";
import type { ModelReply, ModelRequest } from "../ports.ts";
import { compactionTarget } from "./context-room.ts";
import { buildPrompt } from "./prompt.ts";
import type { RunState } from "./run.ts";
import { digestLine, headAndTail, turnsToDrop } from "./turns.ts";

/*
 * How a conversation that is too long is shortened: its oldest turns become a digest. The model that works on the task
 * knows best what matters, so it is asked for a summary; where it gives none, each turn becomes one line.
 */

/** The first line of a digest of earlier turns; models that read the task look for it. */
export const DIGEST_TITLE = "[What happened earlier in this task, in short]";
const DIGEST_START = `\n\n${DIGEST_TITLE}`;

/** The task in the first turn, without the digest that may follow it. */
export function taskBeforeDigest(turn: string): string {
  const at = turn.indexOf(DIGEST_START);
  return at < 0 ? turn : turn.slice(0, at);
}

/** What the model is asked for; the last turn of a prompt that begins as the one before it. */
const SUMMARY_TASK = `[The conversation is about to be shortened: its oldest part will be replaced by your summary. Do not call a tool and do not go on with the task now. Write the summary alone, in the language of the task, for yourself as the one who goes on with it. Use these headings and leave out none:
Task: what the person wants, and every limit and wish that was said, in their own words where they matter.
Done: what was done and what came of it, with the exact names of files, commands, hosts and values.
Found: facts that later steps need, and errors with their cause.
Open: what is left, and the next step.]`;

/** Whether the model is asked for a summary: not where its server has just refused this very conversation as too long. */
export function asksForSummary(state: RunState): boolean {
  return state.started.summarises === true && state.context.squeezes === 0 && planOf(state).dropped > 0;
}

/** The request for a summary: the same prompt with one more turn, so that the vendor's cache holds. */
export function summaryPrompt(state: RunState): ModelRequest {
  const { choice: _, sampling, ...prompt } = buildPrompt(state);
  const { format: _format, stop: _stop, maxTokens: _maxTokens, ...kept } = sampling ?? {};
  const ask: Turn = { role: "user", text: SUMMARY_TASK };
  return {
    ...prompt,
    turns: [...prompt.turns, ask],
    isSummary: true,
    ...(Object.keys(kept).length === 0 ? {} : { sampling: kept }),
  };
}

/** The event of a reply to the request for a summary; a reply that is none leads to the lines of a digest. */
export function compactBySummary(
  state: RunState,
  { model, text, calls, usage, cutShort }: ModelReply,
): ContextCompacted {
  const words = text.trim();
  const fault = (message: string): FaultReport => ({ code: "MODEL_RUBBISH", message });
  if (calls.length > 0) return { ...compactConversation(state, fault("It called a tool instead.")), usage };
  if (words === "" || cutShort === true)
    return { ...compactConversation(state, fault("It did not finish it.")), usage };
  const { digestChars } = planOf(state);
  const digest = `${DIGEST_TITLE}\n${headAndTail(words, digestChars)}`;
  return { ...compactedEvent(state, digest), summarisedBy: model, usage };
}

/** The event that shortens a conversation by lines of a digest; `fault` is why there is no summary. */
export function compactConversation(state: RunState, fault?: FaultReport): ContextCompacted {
  const { dropped, digestChars } = planOf(state);
  const before = state.digest === "" ? [] : state.digest.split("\n").slice(1);
  const lines = [...before, ...state.turns.items.slice(0, dropped).map((turn) => digestLine(turn))];
  let chars = lines.reduce((sum, line) => sum + line.length + 1, DIGEST_TITLE.length);
  let first = 0;
  while (chars > digestChars && first < lines.length) {
    chars -= (lines[first]?.length ?? 0) + 1;
    first += 1;
  }
  const digest = lines.length === 0 ? "" : [DIGEST_TITLE, ...lines.slice(first)].join("\n");
  return { ...compactedEvent(state, digest), ...(fault === undefined ? {} : { fault }) };
}

function compactedEvent(state: RunState, digest: string): ContextCompacted {
  const { dropped, fresh } = planOf(state);
  return {
    type: "context.compacted",
    dropped,
    digest,
    ...(fresh === MODEL_LIMITS.freshTurns ? {} : { fresh }),
    kept: state.turns.length - dropped,
    why: state.context.squeezes === 0 ? "length" : "refused",
  };
}

/** What a compaction leaves out, and how long its digest may be. */
function planOf({ context, turns }: RunState): {
  readonly dropped: number;
  readonly fresh: number;
  readonly digestChars: number;
} {
  const { chars, fresh } = compactionTarget(context, turns);
  const digestChars = Math.min(MODEL_LIMITS.digestChars, Math.floor(context.mostChars / 4));
  return { dropped: turnsToDrop(turns, { chars, fresh }), fresh, digestChars };
}
