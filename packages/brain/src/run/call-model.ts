import { STORE_LIMITS } from "@vidro/core";
import { buildPrompt, compactBySummary, compactConversation, replyEvents, summaryPrompt } from "@vidro/core/run";
import type { Event, LiveEvent, ModelRequest } from "@vidro/core";
import type { RunState, SharedCost } from "@vidro/core/run";
import { isTransient } from "../stores/transient-faults.ts";
import { modelKey } from "../observe/trace/model-key.ts";
import { LiveText } from "./live-text.ts";
import type { RunDependencies } from "./run-dependencies.ts";

/** The loop of a run, as a call of its model sees it. */
interface CallingLoop {
  readonly run: string;
  readonly deps: Pick<RunDependencies, "model" | "redactor" | "live" | "newActionId" | "traces">;
  /** State of the run, with every event recorded so far. */
  readonly state: () => RunState;
  readonly record: (events: readonly Event[]) => void;
  readonly signal: AbortSignal;
}

/** Calls the model for the next step, or for a summary, as the intent in the journal says; none when it was aborted. */
export function callModel(loop: CallingLoop): Promise<readonly Event[]> {
  const { phase } = loop.state();
  return phase.name === "calling-model" && phase.summary === true ? askForSummary(loop) : askForStep(loop);
}

async function askForStep(loop: CallingLoop): Promise<readonly Event[]> {
  const { redactor, live, newActionId } = loop.deps;
  const publish = (event: LiveEvent): void => live.publish(loop.run, { after: loop.state().seq, event });
  let liveText = new LiveText(loop.state(), redactor);
  for await (const event of loop.deps.model.call(placeInTrace(loop, buildPrompt(loop.state())), loop.signal)) {
    switch (event.type) {
      case "delta":
        publish(liveText.nextDelta(event));
        break;
      case "thinking":
        publish(liveText.nextThinking(event));
        break;
      case "healed":
        if (loop.signal.aborted) break;
        // It voids the text before it.
        loop.record([event.heal]);
        liveText = new LiveText(loop.state(), redactor);
        break;
      case "failed":
        if (loop.signal.aborted) return [];
        return [{ type: "model.failed", attempt: loop.state().attempt, fault: event.fault }];
      case "replied": {
        const events = replyEvents(event.reply, loop.state(), newActionId);
        publish(liveText.lastDelta(events));
        return events;
      }
    }
  }
  throw endless(loop);
}

/** What a summary comes to: the conversation is shortened in any case, without one by lines of a digest. */
async function askForSummary(loop: CallingLoop): Promise<readonly Event[]> {
  for await (const event of loop.deps.model.call(placeInTrace(loop, summaryPrompt(loop.state())), loop.signal)) {
    if (event.type === "healed" && !loop.signal.aborted) loop.record([event.heal]);
    if (event.type === "replied") return [compactBySummary(loop.state(), event.reply)];
    if (event.type === "failed") return loop.signal.aborted ? [] : [compactConversation(loop.state(), event.fault)];
  }
  throw endless(loop);
}

/** The request with its place in the trace of its run, if there is one. */
function placeInTrace({ run, deps: { traces }, state }: CallingLoop, request: ModelRequest): ModelRequest {
  if (traces === undefined) return request;
  const { started, used, attempt, phase } = state();
  const summary = phase.name === "calling-model" ? phase.summary : undefined;
  const key = modelKey({ step: used.steps, attempt, summary });
  return { ...request, traceparent: traces.traceparent(run, started, key) };
}

function endless({ deps: { model } }: CallingLoop): Error {
  return new Error(`The model ${model.name} ended its stream without a terminal event.`);
}

/** Phases in which the next decision may be to call the model. */
const PHASES_BEFORE_CALL: ReadonlySet<RunState["phase"]["name"]> = new Set(["ready", "backing-off", "answered"]);

/** Whether the next decision about a run may be to call its model. */
export function mayCallNext({ phase }: RunState): boolean {
  return PHASES_BEFORE_CALL.has(phase.name);
}

/** Reads costs, again after a rest while the store cannot be read; none when it is aborted. */
export async function whenReadable(
  read: () => Promise<readonly SharedCost[]>,
  rest: (ms: number) => Promise<void>,
  signal: AbortSignal,
): Promise<readonly SharedCost[]> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (thrown) {
      if (!isTransient(thrown)) throw thrown;
      await rest(STORE_LIMITS.backoffMs);
    }
  }
  return [];
}
