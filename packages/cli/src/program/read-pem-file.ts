import { readFile } from "node:fs/promises";
import { Fault } from "@vidro/core";

/** Reads a PEM file that a flag names; BAD_REQUEST when it cannot be read. */
export function readPemFile(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: Error) => {
    throw new Fault("BAD_REQUEST", `${file} cannot be read: ${cause.message}`, { cause });
  });
}
