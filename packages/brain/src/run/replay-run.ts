import { canonicalJson } from "@vidro/core";
import { buildPrompt, reduce, replyEvents, withoutSignature } from "@vidro/core/run";
import type { Entry, Event, FaultReport, Json, JsonObject, Model, ModelReply, ModelRequest, Usage } from "@vidro/core";
import type { RunState } from "@vidro/core/run";

/* Another model at the decisions of a recorded run. Hands are not asked: what they did is in the journal. */

/** A decision of a model: the one thing that it wants done next. */
export type ModelDecision =
  | { readonly kind: "action"; readonly tool: string; readonly input: JsonObject }
  | { readonly kind: "question"; readonly text: string }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "failed"; readonly fault: FaultReport };

/** One decision of a run, as its model made it and as another model makes it from the same prompt. */
export interface ReplayedStep {
  /** The entry with the recorded decision. */
  readonly seq: number;
  readonly step: number;
  readonly recorded: ModelDecision;
  readonly other: ModelDecision;
  /** `same`: the same call, or both end the run. Answers and questions may differ in their words. */
  readonly same: boolean;
  /** The tokens and the cost of the other model's reply; absent when it failed. */
  readonly usage?: Usage;
}

/** Asks another model at each decision of a run, with the prompt that there was; nothing is carried out. */
export async function* replayRun(
  entries: AsyncIterable<Entry>,
  model: Model,
  signal: AbortSignal,
): AsyncGenerator<ReplayedStep> {
  let state: RunState | undefined;
  let asked: RunState | undefined;
  for await (const entry of entries) {
    const { event, seq } = entry;
    if (event.type === "model.replied" && asked !== undefined) {
      const { decision: other, usage } = await ask(model, asked, signal);
      if (signal.aborted) return;
      const recorded = decisionOf([event]);
      const same = isSameDecision(recorded, other);
      yield { seq, step: asked.used.steps, recorded, other, same, ...(usage === undefined ? {} : { usage }) };
    }
    state = reduce(state, entry);
    if (event.type === "model.called") asked = event.summary === true ? undefined : state;
  }
}

async function ask(
  model: Model,
  state: RunState,
  signal: AbortSignal,
): Promise<{ readonly decision: ModelDecision; readonly usage?: Usage }> {
  for await (const event of model.call(promptFor(state), signal)) {
    if (event.type === "failed") return { decision: { kind: "failed", fault: event.fault } };
    if (event.type === "replied") return { decision: decisionIn(event.reply, state), usage: event.reply.usage };
  }
  const fault = { code: "MODEL_UNAVAILABLE", message: "The model ended its stream without an answer." } as const;
  return { decision: { kind: "failed", fault } };
}

/** The recorded prompt, without what only the recorded model's vendor understands. */
function promptFor(state: RunState): ModelRequest {
  const { native: _, inText: __, turns, ...request } = buildPrompt(state);
  return { ...request, turns: turns.map(withoutSignature) };
}

function decisionIn(reply: ModelReply, state: RunState): ModelDecision {
  return decisionOf(replyEvents(reply, { ...state, native: false, inText: [] }, () => "act_replay"));
}

function decisionOf(events: readonly Event[]): ModelDecision {
  for (const event of events) {
    if (event.type === "model.failed") return { kind: "failed", fault: event.fault };
    if (event.type !== "model.replied") continue;
    const { action, question, answer, text } = event;
    if (action !== undefined) return { kind: "action", tool: action.tool, input: action.input };
    if (question !== undefined) return { kind: "question", text: question.text };
    return answer === undefined ? { kind: "words", text } : { kind: "answer", text: textOf(answer) };
  }
  return { kind: "words", text: "" };
}

function textOf(answer: Json): string {
  return typeof answer === "string" ? answer : JSON.stringify(answer);
}

function isSameDecision(one: ModelDecision, other: ModelDecision): boolean {
  if (one.kind !== "action" || other.kind !== "action") return one.kind === other.kind && one.kind !== "failed";
  return one.tool === other.tool && canonicalJson(one.input) === canonicalJson(other.input);
}
