import type { ChildProcess } from "node:child_process";
import { Writable } from "node:stream";

/** The descriptor on which a program finds bytes that were handed over to it. */
export const INHERITED_DESCRIPTOR = 3;

/** Gives a child, which has a pipe there, its bytes on that descriptor; a child that does not read them is let be. */
export function writeInherited(child: ChildProcess, bytes: Uint8Array): void {
  const pipe = child.stdio[INHERITED_DESCRIPTOR];
  if (pipe instanceof Writable) pipe.on("error", () => undefined).end(bytes);
}
