import { jsonLine } from "@vidro/core/text";
import type { Redactor } from "@vidro/core/redact";
import { LOG_EVENTS } from "./log-events.ts";
import type { Level, LogEventName } from "./log-events.ts";

/** Fields of a log line beside its name and sentence; the first six have the same names on every line that has them. */
export interface LogFields {
  readonly run_id?: string;
  /** The thread. */
  readonly session_id?: string;
  /** The hand. */
  readonly agent_id?: string;
  readonly action_id?: string;
  readonly trace_id?: string;
  readonly request_id?: string;
  readonly [name: string]: string | number | boolean | undefined;
}

/** Writes a line to the log; its level and sentence come from the table of names. */
export type Log = (event: LogEventName, fields?: LogFields) => void;

/** The fields that each line of the log begins with. */
interface LineHead {
  readonly level: Level;
  readonly event: LogEventName;
  readonly message: string;
}

/** Level, name and sentence of a log line. */
export function lineHead(event: LogEventName): LineHead {
  const [level, message] = LOG_EVENTS[event];
  return { level, event, message };
}

/** A log that writes one JSON object a line, with secrets redacted. */
export function jsonLog(write: (line: string) => void, redactor?: Redactor, now: () => number = Date.now): Log {
  return (event, fields = {}) => {
    const line = { timestamp: new Date(now()).toISOString(), ...lineHead(event), ...fields };
    write(jsonLine(redactor === undefined ? line : redactor.value(line)));
  };
}
