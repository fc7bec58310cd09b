import type { Fate, Severity } from "./fault-cells.ts";
import { TABLE } from "./fault-table.ts";
import type { Json } from "./json.ts";
import { thrownMessage } from "./thrown.ts";

export type { Fate, Severity } from "./fault-cells.ts";

/** One row of the fault table. */
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

/** The closed table of faults: every failure that leaves a process has one of these codes. */
export const FAULTS = Object.fromEntries(
  Object.entries(TABLE).map(([code, [fate, http, exit, severity, says, next]]) => [
    code,
    { fate, http, exit, severity, says, next },
  ]),
) as { readonly [Code in FaultCode]: FaultRow };

/** A fault as data, for journals and wires. */
export interface FaultReport {
  readonly code: FaultCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** A failure with a code of the table; the only class that our code throws. It never crosses a port. */
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

/** A thrown value as a Fault: a Fault unchanged, anything else as `code` with its message. */
export function asFault(thrown: unknown, code: FaultCode = "INTERNAL_ERROR"): Fault {
  return isFault(thrown) ? thrown : new Fault(code, thrownMessage(thrown), { cause: thrown });
}

function isFault(thrown: unknown): thrown is Fault {
  try {
    return thrown instanceof Fault;
  } catch {
    // A revoked proxy.
    return false;
  }
}
