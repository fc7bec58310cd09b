import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isSameProcess, ownIdentity, standingOf } from "./process-identity.ts";
import type { ProcessSystem } from "./process-identity.ts";

/** A host on which the processes of `stats` run, as /proc/<pid>/stat shows them. */
function hostWith(stats: Readonly<Record<number, string>>, more: Partial<ProcessSystem> = {}): ProcessSystem {
  return {
    hostname: () => "box",
    pid: 10,
    read(path) {
      if (path.endsWith("boot_id")) return "boot-1\n";
      const found = stats[Number(/^\/proc\/(\d+)\/stat$/.exec(path)?.[1])];
      if (found === undefined) throw Object.assign(new Error("none"), { code: "ENOENT" });
      return found;
    },
    readLink: () => "pid:[1]",
    kill(pid) {
      if (stats[pid] === undefined) throw Object.assign(new Error("none"), { code: "ESRCH" });
    },
    ...more,
  };
}

/** A line of /proc/<pid>/stat: the start time is the 22nd field. */
function statLine(name: string, state: string, started: string): string {
  const between = Array.from({ length: 18 }, (_, index) => String(index));
  return `10 (${name}) ${state} ${between.join(" ")} ${started} 0 0\n`;
}

const here = ownIdentity(hostWith({ 10: statLine("node", "R", "777") }));

test("a process is known by host, boot, pid namespace, pid and start time", () => {
  assert.deepEqual(here, { host: "box", boot: "boot-1 pid:[1]", pid: 10, started: "777" });
});

test("no name of a program moves the start time, also not one with brackets, blanks and numbers", () => {
  const name = fc.oneof(fc.constantFrom(") R 1 2 3", "a) Z (b", "((", "))", " ", ""), fc.string({ maxLength: 15 }));
  fc.assert(
    fc.property(name, fc.nat(), (program, started) => {
      const system = hostWith({ 10: statLine(program, "S", String(started)) });
      assert.equal(ownIdentity(system).started, String(started));
      assert.equal(standingOf({ ...here, started: String(started) }, here, system), "alive");
    }),
  );
});

test("a later process with the same pid is not the one that is looked for", () => {
  assert.equal(standingOf(here, here, hostWith({ 10: statLine("other", "R", "778") })), "dead");
});

test("a zombie holds nothing any more, a stopped process does", () => {
  for (const [state, standing] of [
    ["Z", "dead"],
    ["X", "dead"],
    ["T", "alive"],
    ["D", "alive"],
  ] as const)
    assert.equal(standingOf(here, here, hostWith({ 10: statLine("node", state, "777") })), standing);
});

test("a process of another user exists, although no signal may be sent to it", () => {
  const kill = (): never => {
    throw Object.assign(new Error("not allowed"), { code: "EPERM" });
  };
  assert.equal(standingOf(here, here, hostWith({ 10: statLine("node", "S", "777") }, { kill })), "alive");
});

test("where /proc cannot be read the pid alone decides", () => {
  const hidden = (path: string): string => {
    if (path.endsWith("boot_id")) return "boot-1\n";
    throw new Error("hidden");
  };
  const system = hostWith({ 10: "" }, { read: hidden });
  assert.equal(ownIdentity(system).started, "");
  assert.equal(standingOf(here, here, system), "alive");
  assert.equal(standingOf({ ...here, pid: 11 }, here, system), "dead");
});

test("a stat line that is cut short counts as unreadable, not as another process", () => {
  assert.equal(standingOf(here, here, hostWith({ 10: "10 (node) R 1 2" })), "alive");
  assert.equal(standingOf(here, here, hostWith({ 10: "" })), "alive");
});

test("an identity without start time is compared by its pid alone", () => {
  const system = hostWith({ 10: statLine("node", "R", "900") });
  assert.equal(standingOf({ ...here, started: "" }, here, system), "alive");
});

test("of a process on another host, boot or namespace nothing is known, whatever this host's pids are", () => {
  const system = hostWith({});
  for (const other of [{ host: "elsewhere" }, { boot: "boot-0 pid:[1]" }, { boot: "boot-1 pid:[2]" }])
    assert.equal(standingOf({ ...here, ...other }, here, system), "elsewhere");
});

test("a system without boot id has one empty world, in which its own processes are found", () => {
  const read = (): never => {
    throw new Error("no /proc");
  };
  const system = hostWith({ 10: "" }, { read });
  const own = ownIdentity(system);
  assert.equal(own.boot, "");
  assert.equal(standingOf(own, own, system), "alive");
});

test("two identities are the same process only when every part agrees", () => {
  assert.ok(isSameProcess(here, { ...here }));
  for (const other of [{ host: "b" }, { boot: "b" }, { pid: 11 }, { started: "1" }])
    assert.ok(!isSameProcess(here, { ...here, ...other }));
});
