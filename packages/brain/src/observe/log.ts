import { jsonLine } from "@vidro/core/text";
import type { Redactor } from "@vidro/core/redact";

/** How much a line of the log matters. */
export type Level = "debug" | "info" | "warn" | "error";

/** What a line says besides its words; the first six have the same names on every line that has them. */
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

/** Writes a line to the log. */
export type Log = (level: Level, message: string, fields?: LogFields) => void;

/** A log that writes one JSON object a line, with secrets taken out. */
export function jsonLog(write: (line: string) => void, redactor?: Redactor, now: () => number = Date.now): Log {
  return (level, message, fields = {}) => {
    const line = { timestamp: new Date(now()).toISOString(), level, message, ...fields };
    write(jsonLine(redactor === undefined ? line : redactor.value(line)));
  };
}
