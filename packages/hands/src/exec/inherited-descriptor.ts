import type { ChildProcess } from "node:child_process";
import { Writable } from "node:stream";

/** The file descriptor on which a child process reads bytes from the hand. */
export const INHERITED_DESCRIPTOR = 3;

/** Writes bytes to the pipe on that descriptor of a child; a child that does not read them causes no error. */
export function writeInherited(child: ChildProcess, bytes: Uint8Array): void {
  const pipe = child.stdio[INHERITED_DESCRIPTOR];
  if (pipe instanceof Writable) pipe.on("error", () => undefined).end(bytes);
}
