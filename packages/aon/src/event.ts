import type { Json, JsonObject, Severity } from "@vidro/core";

export type { Severity } from "@vidro/core";

/** The input was understood, and the ordinary way was changed. */
export interface IntentAnalysisEvent {
  readonly type: "intent_analysis";
  readonly original_intent: string;
  readonly detected_issue: string;
  readonly decision: string;
  readonly metadata?: JsonObject;
}

/** Something is done so that a fault does not become a failure; `metadata.success` says how it ended. */
export interface HealingEvent {
  readonly type: "healing";
  readonly severity: Severity;
  readonly action: string;
  readonly description: string;
  readonly metadata: JsonObject;
}

/** Progress, a heartbeat, or with `dropped` the marker that events are missing here. */
export interface StatusEvent {
  readonly type: "status";
  readonly message: string;
  readonly estimated_delay_ms?: number;
  readonly dropped?: number;
}

/** A healing is stuck and asks a person; only in interactive mode. */
export interface InteractiveHealingRequestEvent {
  readonly type: "interactive_healing_request";
  readonly healing_id: string;
  readonly description: string;
  readonly options: readonly string[];
  readonly timeout_ms: number;
}

/** The operation succeeded; `data` is what the body of a black box would be. */
export interface ResultEvent {
  readonly type: "result";
  readonly data: Json;
}

/** The operation failed and no healing helped. */
export interface ErrorEvent {
  readonly type: "error";
  readonly code: string;
  readonly message: string;
  readonly trace_id: string;
  /** The HTTP status that a black box would have answered with. */
  readonly status?: number;
  /** What the route itself said about it. */
  readonly detail?: Json;
}

/** What happens on the way. */
export type ProgressEvent = IntentAnalysisEvent | HealingEvent | StatusEvent | InteractiveHealingRequestEvent;

/** How it ends: exactly one of these, last. */
export type TerminalAonEvent = ResultEvent | ErrorEvent;

/** What every line carries besides. */
export interface EventStamp {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly requestId: string;
}

/** An `intent_analysis` as people who are no administrators see it in production. */
export type ReducedIntent = Pick<IntentAnalysisEvent, "type" | "decision"> & Partial<IntentAnalysisEvent>;

/** A line of the stream. */
export type AonEvent = (Exclude<ProgressEvent, IntentAnalysisEvent> | ReducedIntent | TerminalAonEvent) & EventStamp;

/** Whether an event is the last of its stream. */
export function isTerminalAonEvent<E extends { readonly type: string }>(event: E): event is E & TerminalAonEvent {
  return event.type === "result" || event.type === "error";
}
