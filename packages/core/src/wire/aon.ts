import type { Entry, Event, EventType, LiveEvent } from "../event.ts";
import { FAULTS } from "../fault.ts";
import type { FaultReport, Severity } from "../fault.ts";
import type { Json, JsonObject } from "../json.ts";
import { printable } from "../text/printable.ts";
import { questionName, readQuestionName } from "../run/question-id.ts";
import { liveSentence, eventSentence } from "../text/sentences.ts";

/*
 * A run as AON events: the fields of the five kinds of AON events, and beside them the unchanged entry. The caller
 * encodes the result as bytes.
 */

/** The fields of an AON event. */
type AonFields =
  | { readonly type: "status"; readonly message: string }
  | IntentAnalysis
  | {
      readonly type: "healing";
      readonly severity: Severity;
      readonly action: string;
      readonly description: string;
      readonly metadata: JsonObject;
    }
  | {
      readonly type: "interactive_healing_request";
      readonly healing_id: string;
      readonly description: string;
      readonly options: readonly string[];
      readonly timeout_ms: number;
    }
  | { readonly type: "result"; readonly data: Json }
  | { readonly type: "error"; readonly code: string; readonly message: string; readonly trace_id: string };

interface IntentAnalysis {
  readonly type: "intent_analysis";
  readonly original_intent: string;
  readonly detected_issue: string;
  readonly decision: string;
}

type EventOf = { readonly [Kind in EventType]: Extract<Event, { type: Kind }> };
type Encoders = { readonly [Kind in EventType]: (event: EventOf[Kind], run: string, at: number) => AonFields };

const status = (event: Event): AonFields => ({ type: "status", message: eventSentence(event) });

const healingFields = (action: string, fault: FaultReport, metadata: JsonObject): AonFields => ({
  type: "healing",
  severity: FAULTS[fault.code].severity,
  action,
  description: fault.message,
  metadata: { code: fault.code, ...metadata },
});

const ENCODERS: Encoders = {
  "run.started": status,
  "intent.analyzed": (event) => ({
    type: "intent_analysis",
    original_intent: event.originalIntent,
    detected_issue: event.detectedIssue,
    decision: event.decision,
  }),
  "model.called": status,
  "model.replied": status,
  "model.failed": ({ fault, attempt }) => healingFields("report_model_fault", fault, { attempt }),
  "plan.made": status,
  "note.observed": status,
  "knowledge.committed": status,
  "tool.proposed": status,
  "context.compacted": status,
  "question.asked": (event, run, at) => {
    const { about, id, text: description, options, expiresAt } = event;
    // Never shortened: a person must see all of what they approve.
    if (about.kind !== "healing") return { type: "status", message: printable(description) };
    const healing_id = healingId(run, id);
    return { type: "interactive_healing_request", healing_id, description, options, timeout_ms: expiresAt - at };
  },
  "question.answered": status,
  "remark.made": status,
  "policy.judged": status,
  "action.started": status,
  "action.finished": status,
  "action.failed": ({ fault, action }) => healingFields("tell_model", fault, { action_id: action }),
  "action.unknown": ({ fault, action }) => healingFields("ask_person", fault, { action_id: action }),
  "heal.tried": ({ healing, severity, description, attempt, delayMs, metadata }) => ({
    type: "healing",
    severity,
    action: healing,
    description,
    metadata: { ...metadata, attempt, delay_ms: delayMs },
  }),
  "run.finished": ({ result }) => ({ type: "result", data: result }),
  "run.failed": ({ fault }, run) => ({ type: "error", code: fault.code, message: fault.message, trace_id: run }),
  "run.aborted": ({ reason }, run) => ({ type: "error", code: ABORTED_CODE, message: reason, trace_id: run }),
};

/** The code of an aborted run on the wires; it is not a fault and not in the fault table. */
export const ABORTED_CODE = "ABORTED";

/** The id of a healing that waits for a person: it contains the run and the question. */
export function healingId(run: string, question: string): string {
  return `heal_${questionName(run, question)}`;
}

/** The run and the question in the id of a healing. */
export function readHealingId(id: string): { readonly run: string; readonly question: string } | undefined {
  return id.startsWith("heal_") ? readQuestionName(id.slice("heal_".length)) : undefined;
}

/** An entry as an AON event: the AON fields, the position in the journal, and the whole event as `body`. */
export function aonEntry(run: string, { seq, at, event }: Entry): JsonObject {
  const { type, ...body } = event;
  const { type: kind, ...fields } = encodeEvent(event, run, at);
  return { type: kind, event: type, seq, timestamp: at, run_id: run, ...fields, body: body as JsonObject };
}

function encodeEvent<Kind extends EventType>(
  event: EventOf[Kind] & { type: Kind },
  run: string,
  at: number,
): AonFields {
  return ENCODERS[event.type](event, run, at);
}

/** A live event as an AON event; it has no `seq` because it is not stored. */
export function aonLive(run: string, event: LiveEvent, at: number): JsonObject {
  const { type, ...body } = event;
  return { type: "status", event: type, timestamp: at, run_id: run, message: liveSentence(event), body };
}
