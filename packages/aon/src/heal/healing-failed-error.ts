import type { Failure } from "./failure.ts";

/** Statuses that speak of the caller's own input; a 401 of some other server says nothing about the caller. */
const CALLERS: readonly number[] = [400, 404, 409, 413, 422];

/** An operation that failed for good, after what fits was tried; the failure itself is its `cause`, for the log. */
export class HealingFailedError extends Error {
  readonly code: string;
  readonly status: number;
  /** Its message was written for whoever asked. */
  readonly expose = true;
  /** The actions that were tried, in order. */
  readonly tried: readonly string[];

  constructor(operation: string, failure: Failure, tried: readonly string[]) {
    const what = tried.length > 0 ? `Tried: ${tried.join(", ")}.` : "Nothing fits that could be tried safely.";
    super(`${operation} failed with ${failure.code}. ${what}`, { cause: failure.error });
    this.name = "HealingFailedError";
    this.code = failure.code;
    this.status = failure.status !== undefined && CALLERS.includes(failure.status) ? failure.status : 503;
    this.tried = tried;
  }
}
