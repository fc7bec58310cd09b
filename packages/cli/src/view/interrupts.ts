import { EXIT } from "../program/exit-codes.ts";

/** Why a watcher leaves before the end: the code it exits with, and what a person is told. */
export interface LeaveReason {
  readonly exit: number;
  readonly because: string;
}

/** What a watcher does when it is interrupted. */
export interface InterruptTarget {
  /** The first Ctrl-C. */
  abort(): void;
  /** The second Ctrl-C, a signal to end, or an output that cannot be written any more. */
  leave(leaving: LeaveReason): void;
}

let outputBroke: ((leaving: LeaveReason) => void) | undefined;

/** Ends the process quietly when stdout cannot be written, unless a watcher has a run to leave in order. */
export function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const leaving =
      error.code === "EPIPE"
        ? { exit: EXIT.readerGone, because: "nobody reads the output any more" }
        : { exit: EXIT.failed, because: `the output cannot be written: ${error.message}` };
    if (outputBroke === undefined) process.exit(leaving.exit);
    outputBroke(leaving);
  });
  // Without a reader for words there is nobody to tell.
  process.stderr.on("error", () => undefined);
}

/** Says what becomes of errors that reach the process from now on; it takes the place of what was said before. */
export function onUncaught(handle: (thrown: unknown) => void): void {
  process.removeAllListeners("uncaughtException").on("uncaughtException", handle);
}

/** Passes signals on to a watcher; returns how to stop. */
export function onInterrupt(watcher: InterruptTarget): () => void {
  let struck = 0;
  const interrupt = (): void => {
    struck += 1;
    if (struck === 1) watcher.abort();
    else if (struck === 2) watcher.leave({ exit: EXIT.aborted, because: "Ctrl-C twice" });
    else process.exit(EXIT.aborted);
  };
  const terminate = (): void => watcher.leave({ exit: EXIT.terminated, because: "asked to end" });
  const hangUp = (): void => watcher.leave({ exit: EXIT.hungUp, because: "the terminal is gone" });
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", terminate);
  process.on("SIGHUP", hangUp);
  outputBroke = (leaving) => watcher.leave(leaving);
  return () => {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", terminate);
    process.off("SIGHUP", hangUp);
    outputBroke = undefined;
  };
}
