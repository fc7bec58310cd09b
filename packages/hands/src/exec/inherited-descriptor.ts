import type { ChildProcess } from "node:child_process";
import { Writable } from "node:stream";

/** The descriptor on which a program finds bytes that were handed over to it. */
export const HANDED_OVER = 3;

/** Gives a child, which has a pipe there, its bytes on that descriptor; a child that does not read them is let be. */
export function handOver(child: ChildProcess, bytes: Uint8Array): void {
  const pipe = child.stdio[HANDED_OVER];
  if (pipe instanceof Writable) pipe.on("error", () => undefined).end(bytes);
}
