/** Further fields of a VidroError. */
interface ErrorDetail {
  /** HTTP status of the answer, if there was one. */
  readonly status?: number;
  /** When to try again, as the brain says. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * The one error of this package. `code` is the brain's own (docs/reference/errors.md), or one of the client's:
 * BRAIN_UNREACHABLE, CONNECTION_LOST, BAD_ANSWER (what answered is no brain), ABORTED (the run was stopped).
 */
export class VidroError extends Error {
  readonly code: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = "VidroError";
    this.code = code;
    this.status = detail.status;
    this.retryAfterMs = detail.retryAfterMs;
  }
}

/** Codes of transient errors. */
const TRANSIENT_CODES: readonly string[] = ["BRAIN_UNREACHABLE", "CONNECTION_LOST", "SHUTTING_DOWN", "RATE_LIMITED"];
/** HTTP statuses of transient errors, from proxies that send no code. */
const TRANSIENT_STATUSES: readonly number[] = [408, 425, 429, 502, 503, 504];

/** Whether the same request may succeed when it is repeated. */
export function isTransientError(thrown: unknown): thrown is VidroError {
  if (!(thrown instanceof VidroError)) return false;
  return TRANSIENT_CODES.includes(thrown.code) || (thrown.code === "BAD_ANSWER" && isTransientStatus(thrown.status));
}

function isTransientStatus(status: number | undefined): boolean {
  return status !== undefined && TRANSIENT_STATUSES.includes(status);
}
