import { EventEmitter } from "node:events";
import { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { queryObjects } from "node:v8";

/*
 * Loaded before a program with `node --import`: at SIGUSR2 it collects its garbage and prints how much of what
 * belongs to connections is still alive. A listener or a timer that was forgotten keeps what it was for.
 */

/** What is alive in a process. */
export interface LiveObjects {
  readonly timers: number;
  readonly sockets: number;
  readonly responses: number;
  readonly signals: number;
  readonly emitters: number;
}

/** How to have a program count, as flags of Node. */
export const COUNT_OBJECTS_FLAGS = ["--import", import.meta.url] as const;

const alive = (kind: Parameters<typeof queryObjects>[0]): number => queryObjects(kind, { format: "count" });

process.on("SIGUSR2", () => {
  const census: LiveObjects = {
    timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
    sockets: alive(Socket),
    responses: alive(ServerResponse),
    signals: alive(AbortSignal),
    emitters: alive(EventEmitter),
  };
  process.stdout.write(`${JSON.stringify(census)}\n`);
});
