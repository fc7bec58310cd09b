import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@vidro/core";
import type { LeaseHolder } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import { isAlive, thisProcess } from "../host/process-identity.ts";

/** The process that serves with a state folder, and whether its brain has heard it. */
interface ServingProcess {
  readonly holder: LeaseHolder;
  readonly agentId: string;
  /** Whether a heartbeat was answered, and no connection was lost since. */
  readonly connected: boolean;
}

const place = (state: string): string => join(state, "serving.json");

/** The live process that serves with a state folder; undefined when there is none. */
export function readServing(state: string): ServingProcess | undefined {
  try {
    const said = parseJson(readFileSync(place(state), "utf8"));
    if (!isObject(said) || !isObject(said["holder"])) return undefined;
    const serving = said as unknown as ServingProcess;
    return isAlive(serving.holder) ? serving : undefined;
  } catch {
    return undefined;
  }
}

/** Writes that this process serves. It is for people who wait: a failure to write ends no hand. */
export function writeServing(state: string, agentId: string, connected: boolean): void {
  const fresh = `${place(state)}.${process.pid}.new`;
  try {
    writeFileSync(fresh, `${JSON.stringify({ holder: thisProcess(), agentId, connected })}\n`, { mode: 0o600 });
    renameSync(fresh, place(state));
  } catch {
    // A full disk: the ledger says so where it counts.
  }
}

/** Removes the file, unless another process has written it since. */
export function removeServing(state: string): void {
  if (readServing(state)?.holder.pid === process.pid) rmSync(place(state), { force: true });
}
