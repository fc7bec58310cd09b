import { EXIT } from "../program/exit-codes.ts";

/** Why a watcher leaves a run before its end: the exit code, and the reason for people. */
export interface LeaveReason {
  readonly exit: number;
  readonly because: string;
}

/** The action of a watcher when it is interrupted. */
export interface InterruptTarget {
  /** The first Ctrl-C. */
  abort(): void;
  /** The second Ctrl-C, a signal to end, or an output that cannot be written any more. */
  leave(leaving: LeaveReason): void;
}

let outputBroke: ((leaving: LeaveReason) => void) | undefined;

/** Whether a watcher acts on Ctrl-C at this moment. */
export function isRunWatched(): boolean {
  return outputBroke !== undefined;
}

/** Ends the process quietly when stdout cannot be written, unless a watcher has a run to leave in order. */
export function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const leaving =
      error.code === "EPIPE"
        ? { exit: EXIT.readerGone, because: "the output is not read any more" }
        : { exit: EXIT.failed, because: `the output cannot be written: ${error.message}` };
    if (outputBroke === undefined) process.exit(leaving.exit);
    outputBroke(leaving);
  });
  // Errors of stderr have no place to be printed.
  process.stderr.on("error", () => undefined);
}

/** Sets the handler of uncaught errors of the process, in place of the one before. */
export function onUncaught(handle: (thrown: unknown) => void): void {
  process.removeAllListeners("uncaughtException").on("uncaughtException", handle);
}

/** Passes signals on to a watcher; returns a function that stops it. */
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
