import type { Failure } from "./failure.ts";

/** Statuses about the caller's input, which are passed on; a 401 of another server is not about the caller. */
const CALLERS: readonly number[] = [400, 404, 409, 413, 422];

/** An operation failed and no healing helped; the original failure is its `cause`, for the log. */
export class HealingFailedError extends Error {
  readonly code: string;
  readonly status: number;
  /** The message is meant for the caller. */
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
