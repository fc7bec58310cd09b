import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { ownIdentity, standingOf } from "@vidro/core";
import type { LeaseHolder, ProcessSystem } from "@vidro/core";

/** Identity of this process, by which others on this host can tell whether it is alive. */
export function thisHolder(): LeaseHolder {
  return (own ??= ownIdentity(SYSTEM));
}

/**
 * Whether a holder may be alive: false only when it is certainly dead. Of one on another host only its lease is known.
 */
export function mayLive(holder: LeaseHolder): boolean {
  return standingOf(holder, thisHolder(), SYSTEM) !== "dead";
}

let own: LeaseHolder | undefined;

const SYSTEM: ProcessSystem = {
  hostname,
  pid: process.pid,
  read: (path) => readFileSync(path, "utf8"),
  readLink: (path) => readlinkSync(path),
  kill: (pid, signal) => process.kill(pid, signal),
};
