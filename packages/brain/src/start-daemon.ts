import type { Daemon, DaemonOptions } from "./daemon.ts";

/** Starts the daemon of a home; the code that only a daemon needs is loaded here, so that other commands start fast. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  return (await import("./daemon.ts")).serveDaemon(options);
}
