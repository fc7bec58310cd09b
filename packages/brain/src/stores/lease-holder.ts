import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { ownIdentity, standingOf } from "@vidro/core";
import type { LeaseHolder, ProcessSystem } from "@vidro/core";

/** This process, as others on this host can tell it dead from alive. */
export function thisHolder(): LeaseHolder {
  return (own ??= ownIdentity(SYSTEM));
}

/** Whether a holder may still be at work: false only when it is certain that it is not. One elsewhere has its lease. */
export function mayLive(holder: LeaseHolder): boolean {
  return standingOf(holder, thisHolder(), SYSTEM) !== "dead";
}

let own: LeaseHolder | undefined;

const SYSTEM: ProcessSystem = {
  hostname,
  pid: process.pid,
  read: (path) => readFileSync(path, "utf8"),
  readLink: (path) => readlinkSync(path),
  hasProcess(pid) {
    try {
      return process.kill(pid, 0);
    } catch (thrown) {
      // EPERM: it is there, and it is not ours.
      return !(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH");
    }
  },
};
