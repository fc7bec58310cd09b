import type { Daemon, DaemonOptions } from "./daemon.ts";

/** Starts the daemon of a home; all that only a daemon needs is loaded now, so that other commands are quick. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  return (await import("./daemon.ts")).startDaemon(options);
}
