import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { ownIdentity, standingOf } from "@vidro/core";
import type { LeaseHolder, ProcessSystem } from "@vidro/core";

/** Start time on systems that do not report it; the parts of a process tag must not be empty. */
const UNTOLD = "-";

let self: LeaseHolder | undefined;

/** The identity of this process, with which other processes on this host can check whether it still runs. */
export function thisProcess(): LeaseHolder {
  if (self !== undefined) return self;
  const own = ownIdentity(SYSTEM);
  self = { ...own, started: own.started === "" ? UNTOLD : own.started };
  return self;
}

/** Whether a process runs; one of another host, boot or pid namespace counts as ended. */
export function isAlive(holder: LeaseHolder): boolean {
  return standingOf(holder, thisProcess(), SYSTEM) === "alive";
}

const SYSTEM: ProcessSystem = {
  hostname,
  pid: process.pid,
  read: (path) => readFileSync(path, "utf8"),
  readLink: (path) => readlinkSync(path),
  kill: (pid, signal) => process.kill(pid, signal),
};
