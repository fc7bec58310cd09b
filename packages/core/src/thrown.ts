/*
 * Texts of thrown values, which may be anything: an object without `toString`, an error with a getter that throws or
 * that is its own cause. These functions never throw, because they run where an error has escaped every other guard.
 */

const UNSHOWN = "A value that cannot be shown was thrown.";
/** Causes whose stacks are shown. */
const SHOWN_CAUSES = 8;

/** The message of a thrown value. */
export function thrownMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return UNSHOWN;
  }
}

/** The stack of a thrown value, followed by the stacks of its causes. */
export function thrownStack(thrown: unknown): string {
  const stacks: string[] = [];
  let next: unknown = thrown;
  try {
    while (next instanceof Error && stacks.length < SHOWN_CAUSES) {
      stacks.push(thrownMessage(next.stack ?? next.message));
      next = next.cause;
      if (next === undefined) return stacks.join(CAUSED_BY);
    }
  } catch {
    next = UNSHOWN;
  }
  return [...stacks, next instanceof Error ? "further causes" : thrownMessage(next)].join(CAUSED_BY);
}

const CAUSED_BY = "\ncaused by: ";
