import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { ownIdentity, standingOf } from "@vidro/core";
import type { LeaseHolder, ProcessSystem } from "@vidro/core";

/** What stands for a start that this system does not tell; a tag of a process has no empty parts. */
const UNTOLD = "-";

let self: LeaseHolder | undefined;

/** This process, told so that another one on this host can see later whether it still lives. */
export function thisProcess(): LeaseHolder {
  if (self !== undefined) return self;
  const own = ownIdentity(SYSTEM);
  self = { ...own, started: own.started === "" ? UNTOLD : own.started };
  return self;
}

/** Whether a process lives; one of another host, boot or pid namespace counts as dead: it cannot work on this host. */
export function isAlive(holder: LeaseHolder): boolean {
  return standingOf(holder, thisProcess(), SYSTEM) === "alive";
}

const SYSTEM: ProcessSystem = {
  hostname,
  pid: process.pid,
  read: (path) => readFileSync(path, "utf8"),
  readLink: (path) => readlinkSync(path),
  hasProcess(pid) {
    try {
      return process.kill(pid, 0);
    } catch (thrown) {
      return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
    }
  },
};
