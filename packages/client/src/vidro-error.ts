/** What the client knows of a failure besides its name and its words. */
interface ErrorDetail {
  /** The status of the answer, when there was one. */
  readonly status?: number;
  /** When to come back, as the brain says. */
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

/** Codes that say that another try may go better. */
const TRANSIENT_CODES: readonly string[] = ["BRAIN_UNREACHABLE", "CONNECTION_LOST", "SHUTTING_DOWN", "RATE_LIMITED"];
/** The same, said by something between us and the brain, which knows no codes. */
const TRANSIENT_STATUSES: readonly number[] = [408, 425, 429, 502, 503, 504];

/** Whether the same request may go better a moment later. */
export function isTransientError(thrown: unknown): thrown is VidroError {
  if (!(thrown instanceof VidroError)) return false;
  return TRANSIENT_CODES.includes(thrown.code) || (thrown.code === "BAD_ANSWER" && isTransientStatus(thrown.status));
}

function isTransientStatus(status: number | undefined): boolean {
  return status !== undefined && TRANSIENT_STATUSES.includes(status);
}
