import type { ChildProcess } from "node:child_process";
import { Writable } from "node:stream";

/** The file descriptor on which a child process reads bytes from the hand. */
export const INHERITED_DESCRIPTOR = 3;

/** Writes bytes to the pipe on a descriptor of a child; a child that does not read them causes no error. */
export function writeInherited(child: ChildProcess, bytes: Uint8Array, descriptor = INHERITED_DESCRIPTOR): void {
  const pipe = (child.stdio as readonly unknown[])[descriptor];
  if (pipe instanceof Writable) pipe.on("error", () => undefined).end(bytes);
}
