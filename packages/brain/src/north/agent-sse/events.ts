import { isObject, outcomeText, STREAM_LIMITS } from "@vidro/core";
import { encodeSse, encodeSseRetry, SSE_HEARTBEAT } from "@vidro/core/codec";
import { voidsWords } from "@vidro/core/run";
import { actionWords, oneLine, planWords, eventSentence } from "@vidro/core/text";
import { ABORTED_CODE } from "@vidro/core/wire/aon";
import type { Action, Event, EventType, Json, JsonObject, LiveEvent, ModelThinking, Outcome } from "@vidro/core";
import { questionShape } from "../question-words.ts";
import type { RunEncoder } from "../../stream/run-encoder.ts";

/*
 * The nine events of the agent's event stream. A step in a shell reads action → exec_log* → observe, a run ends in one
 * done or error; every durable event carries its `seq`, which is also the id to resume from.
 */

type EventOf = { readonly [Kind in EventType]: Extract<Event, { type: Kind }> };
type Words = readonly JsonObject[];
type Encoders = { readonly [Kind in EventType]: (event: EventOf[Kind], run: string) => Words };

const NOTE_CHARS = 2000;
/** Says that the tokens since the last event with a `seq` are void. */
const VOIDS = { voids: "token" } as const;
const silent = (): Words => [];
const observe = (note: string, more: JsonObject = {}): Words => [{ type: "observe", note, ...more }];
const tellEvent = (event: Event): Words => observe(eventSentence(event));

const ENCODERS: Encoders = {
  "run.started": silent,
  "intent.analyzed": tellEvent,
  "model.called": silent,
  // Text beside a call, a question or a result is no part of the answer, and tokens are the answer.
  "model.replied": ({ text, answer }) => (text === "" || text === answer ? [] : observe(text, VOIDS)),
  "model.failed": ({ fault }) => observe(fault.message, { code: fault.code, ...VOIDS }),
  "plan.made": ({ steps }) => [{ type: "plan", steps }],
  "note.observed": ({ note }) => observe(note),
  "knowledge.committed": tellEvent,
  "tool.proposed": ({ tool: { name, description, parameters, argv = [] } }) => [
    { type: "action", action: "tool_spec", name, description, parameters, command: argv[0], args: argv.slice(1) },
  ],
  "context.compacted": tellEvent,
  "question.asked": (event, run) => [{ type: "ask", ...questionShape(event, run) }],
  "question.answered": silent,
  "remark.made": tellEvent,
  "policy.judged": ({ action, plan, verdict: { decision, rule } }) =>
    observe(`Policy says ${decision} (rule ${rule}): ${oneLine(planWords(plan), NOTE_CHARS)}`, { action_id: action }),
  "action.started": ({ action }) => [{ type: "action", ...namedAction(action), action_id: action.id }],
  "action.finished": ({ action, outcome }) => [
    ...docsOf(outcome),
    ...observe(noteOf(outcome), resultOf(action, outcome)),
  ],
  "action.failed": ({ action, fault }) => observe(fault.message, { action_id: action, code: fault.code }),
  "action.unknown": ({ action, fault }) => observe(fault.message, { action_id: action, code: fault.code }),
  "heal.tried": (event) => observe(event.description, voidsWords(event) ? VOIDS : {}),
  "run.finished": ({ result }) => [{ type: "done", result }],
  "run.failed": ({ fault }) => [{ type: "error", message: fault.message, code: fault.code }],
  "run.aborted": ({ reason }) => [{ type: "error", message: reason, code: ABORTED_CODE }],
};

/** The agent's event stream. */
export const AGENT_EVENTS: RunEncoder = {
  isShared: true,
  contentType: "text/event-stream",
  begin: () => encodeSseRetry(STREAM_LIMITS.retryMs),
  entry(entry, run) {
    const all = encodeEvent(entry.event.type, entry.event, run);
    // Only the last event of an entry has the id: a stream cut between two events of one entry repeats both.
    const texts = all.map((words, index) =>
      encodeSse({
        ...(index === all.length - 1 ? { id: String(entry.seq) } : {}),
        data: JSON.stringify({ ...words, run_id: run, seq: entry.seq }),
      }),
    );
    return texts.length === 0 ? undefined : texts.join("");
  },
  live: (live, _after, run) =>
    live.type === "model.thinking"
      ? undefined
      : encodeSse({ data: JSON.stringify({ ...encodeLive(live), run_id: run }) }),
  heartbeat: SSE_HEARTBEAT,
  heartbeatMs: STREAM_LIMITS.sseHeartbeatMs,
  resync: (run, next) => encodeSse({ data: JSON.stringify({ type: "resync", next, run_id: run }) }),
  fault: ({ code, message }, run) => encodeSse({ data: JSON.stringify({ type: "error", message, code, run_id: run }) }),
};

function encodeEvent<Kind extends EventType>(kind: Kind, event: EventOf[Kind], run: string): Words {
  return ENCODERS[kind](event, run);
}

/** A live event in this wire's terms, which has none for thinking. */
function encodeLive(live: Exclude<LiveEvent, ModelThinking>): JsonObject {
  return live.type === "model.delta"
    ? { type: "token", text: live.text, from: live.from }
    : { type: "exec_log", stream: live.stream, chunk: live.chunk, action_id: live.action };
}

/** An action in this wire's terms; a program with its arguments is shown as a shell command. */
function namedAction(action: Action): JsonObject {
  const { tool, input } = action;
  switch (tool) {
    case "shell":
      return { action: "shell", command: input["command"] };
    case "command":
      return { action: "shell", command: actionWords(action, NOTE_CHARS) };
    case "research":
      return { action: "research", queries: input["queries"], maxDocs: input["maxDocs"] };
    default:
      return { action: "use_tool", name: tool, args: input };
  }
}

function noteOf(outcome: Outcome): string {
  const text = outcomeText(outcome);
  return text.length > NOTE_CHARS ? `${text.slice(0, NOTE_CHARS)}…` : text;
}

function resultOf(action: string, outcome: Outcome): JsonObject {
  return outcome.kind === "process" ? { action_id: action, exit_code: outcome.exitCode } : { action_id: action };
}

/** What a search found, when the outcome is that of one. */
function docsOf(outcome: Outcome): Words {
  const found: Json | undefined = outcome.kind === "value" && isObject(outcome.data) ? outcome.data["docs"] : undefined;
  if (!Array.isArray(found)) return [];
  const docs = found.filter((doc: Json) => isObject(doc) && typeof doc["url"] === "string");
  return [{ type: "research_result", docs }];
}
