import { readFile } from "node:fs/promises";
import { Fault } from "@vidro/core";

/** A certificate or a key; BAD_REQUEST when it cannot be read. */
export function readPem(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: Error) => {
    throw new Fault("BAD_REQUEST", `${path} cannot be read: ${cause.message}`, { cause });
  });
}
