import { TABLE } from "./fault-table.ts";
import type { Fate, Severity } from "./fault-table.ts";
import type { Json } from "./json.ts";

export type { Fate, Severity } from "./fault-table.ts";

/** What the table says of a fault. */
export interface FaultRow {
  readonly fate: Fate;
  /** The status of an HTTP answer. */
  readonly http: number;
  /** The exit code of a command that ends with this fault. */
  readonly exit: number;
  readonly severity: Severity;
  /** What happened, for a person who has never seen the code. */
  readonly says: string;
  /** What to do next. */
  readonly next: string;
}

/** The name of a fault. */
export type FaultCode = keyof typeof TABLE;

/** The closed table: every failure that anybody outside can see has one of these names. */
export const FAULTS = Object.fromEntries(
  Object.entries(TABLE).map(([code, [fate, http, exit, severity, says, next]]) => [
    code,
    { fate, http, exit, severity, says, next },
  ]),
) as { readonly [Code in FaultCode]: FaultRow };

/** A fault as it is journaled and sent: a name, a sentence, and for retries when to come back. */
export interface FaultReport {
  readonly code: FaultCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** A named failure; the one class that our own code throws, and only inside a port, never across it. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly detail: Json | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: FaultCode, message?: string, more: { detail?: Json; cause?: unknown; retryAfterMs?: number } = {}) {
    super(message ?? FAULTS[code].says, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "Fault";
    this.code = code;
    this.detail = more.detail;
    this.retryAfterMs = more.retryAfterMs;
  }

  /** The fault as data. */
  report(): FaultReport {
    return this.retryAfterMs === undefined
      ? { code: this.code, message: this.message }
      : { code: this.code, message: this.message, retryAfterMs: this.retryAfterMs };
  }
}

/** Any thrown thing as a Fault: ours as it is, a stranger's as `code` with its message. */
export function asFault(thrown: unknown, code: FaultCode = "INTERNAL_ERROR"): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault(code, thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}
