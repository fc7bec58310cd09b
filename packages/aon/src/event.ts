import type { Json, JsonObject, Severity } from "@vidro/core";

export type { Severity } from "@vidro/core";

/** The input was interpreted, and the course changed. */
export interface IntentAnalysisEvent {
  readonly type: "intent_analysis";
  readonly original_intent: string;
  readonly detected_issue: string;
  readonly decision: string;
  readonly metadata?: JsonObject;
}

/** A healing of a fault; `metadata.success` says how it ended. */
export interface HealingEvent {
  readonly type: "healing";
  readonly severity: Severity;
  readonly action: string;
  readonly description: string;
  readonly metadata: JsonObject;
}

/** Progress, a heartbeat, or with `dropped` the marker of missing events. */
export interface StatusEvent {
  readonly type: "status";
  readonly message: string;
  readonly estimated_delay_ms?: number;
  readonly dropped?: number;
}

/** A healing asks a person; only in interactive mode. */
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
  /** The body of the route's own error. */
  readonly detail?: Json;
}

/** An event before the terminal one. */
export type ProgressEvent = IntentAnalysisEvent | HealingEvent | StatusEvent | InteractiveHealingRequestEvent;

/** The last event of a stream, exactly one. */
export type TerminalAonEvent = ResultEvent | ErrorEvent;

/** Fields of every line. */
export interface EventStamp {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly requestId: string;
}

/** An `intent_analysis` as callers who are not administrators get it in production. */
export type ReducedIntent = Pick<IntentAnalysisEvent, "type" | "decision"> & Partial<IntentAnalysisEvent>;

/** A line of the stream. */
export type AonEvent = (Exclude<ProgressEvent, IntentAnalysisEvent> | ReducedIntent | TerminalAonEvent) & EventStamp;

/** Whether an event is the last of its stream. */
export function isTerminalAonEvent<E extends { readonly type: string }>(event: E): event is E & TerminalAonEvent {
  return event.type === "result" || event.type === "error";
}
