import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { once } from "node:events";
import { totalmem } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  childrenOf,
  listPids,
  listProcesses,
  readAvailableMemory,
  readOwnMemory,
  readProcessorTimes,
  readProcessStat,
  readProcessVariable,
  readSystemName,
  sortProcesses,
  type ProcessListing,
} from "./proc.ts";
import { scratch } from "../scratch.fixture.ts";

describe("the reader of /proc", () => {
  it("tells a process by its stat, also with brackets and blanks in its name", async (t) => {
    const program = join(scratch(t), "a) (b c");
    copyFileSync("/bin/sleep", program);
    const child = spawn(program, ["1000"], { env: { LAST: "z", A: "1", NAME_A: "2" }, stdio: "ignore" });
    t.after(() => child.kill("SIGKILL"));
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    const stat = readProcessStat(pid);
    assert.equal(stat?.name, "a) (b c");
    assert.equal(stat?.ppid, process.pid);
    assert.ok((stat?.startTicks ?? 0) >= (readProcessStat(process.pid)?.startTicks ?? Infinity));
    assert.equal(readProcessVariable(pid, "A"), "1");
    assert.equal(readProcessVariable(pid, "LAST"), "z");
    assert.equal(readProcessVariable(pid, "ABSENT"), undefined);
    assert.equal(readProcessVariable(pid, "AME_A"), undefined);
  });

  it("lists processes with owner, memory and command line", async () => {
    const own = (await listProcesses()).find(({ pid }) => pid === process.pid);
    assert.ok(own !== undefined);
    assert.ok(own.memRssBytes > 10 * 1024 * 1024);
    assert.ok(own.cpuPercent > 0);
    assert.match(own.cmd, /proc\.test\.ts/u);
    assert.notEqual(own.user, "?");
  });

  it("knows nothing of a process that is not there", () => {
    assert.equal(readProcessStat(0x7ffffffe), undefined);
    assert.equal(readProcessVariable(0x7ffffffe, "A"), undefined);
  });
});

describe("an order of processes", () => {
  const row = (pid: number, name: string, cpuPercent: number, memRssBytes: number): ProcessListing => ({
    pid,
    ppid: 1,
    user: "u",
    name,
    cmd: name,
    state: "S",
    cpuPercent,
    memRssBytes,
  });
  const rows = [row(3, "b", 1, 30), row(1, "c", 9, 10), row(2, "a", 5, 20)];
  const pids = (...order: Parameters<typeof sortProcesses> extends [unknown, ...infer Rest] ? Rest : never): number[] =>
    sortProcesses(rows, ...order).map(({ pid }) => pid);

  it("has the largest use first, the smallest number and the first name, unless told otherwise", () => {
    assert.deepEqual(
      [pids("cpu"), pids("mem"), pids("pid"), pids("name")],
      [
        [1, 2, 3],
        [3, 2, 1],
        [1, 2, 3],
        [2, 3, 1],
      ],
    );
    for (const by of ["cpu", "mem", "pid", "name"] as const)
      assert.deepEqual(pids(by, "asc"), pids(by, "desc").toReversed(), by);
  });

  it("leaves the list itself alone, and equal processes in their order", () => {
    const equal = [row(5, "x", 1, 1), row(4, "x", 1, 1)];
    assert.deepEqual(
      sortProcesses(equal, "cpu").map(({ pid }) => pid),
      [5, 4],
    );
    assert.deepEqual(
      rows.map(({ pid }) => pid),
      [3, 1, 2],
    );
  });
});

describe("a process that has ended and was not waited for", () => {
  it("is a zombie with a name, no memory and no command line", async (t) => {
    const script = "sleep 0 & echo $!; exec sleep 1000";
    const parent = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
    t.after(() => parent.kill("SIGKILL"));
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    while (readProcessStat(pid)?.state !== "Z") await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(readProcessStat(pid)?.ppid, parent.pid);
    assert.equal(readOwnMemory(pid), 0);
    const listed = (await listProcesses()).find((one) => one.pid === pid);
    assert.deepEqual([listed?.state, listed?.cmd, listed?.memRssBytes], ["Z", "[sleep]", 0]);
    assert.deepEqual(childrenOf(parent.pid ?? 0), [pid]);
  });

  it("differs from one that is stopped, which has all of these", async (t) => {
    const child = spawn("/bin/sleep", ["1000"], { stdio: "ignore" });
    t.after(() => child.kill("SIGKILL"));
    await once(child, "spawn");
    child.kill("SIGSTOP");
    const pid = child.pid ?? 0;
    while (readProcessStat(pid)?.state !== "T") await new Promise((resolve) => setTimeout(resolve, 5));
    const listed = (await listProcesses()).find((one) => one.pid === pid);
    assert.deepEqual([listed?.state, listed?.cmd], ["T", "/bin/sleep 1000"]);
  });
});

describe("facts of the host", () => {
  it("are within what a host can have", () => {
    const { busy, total } = readProcessorTimes();
    assert.ok(busy > 0 && busy < total);
    const memory = readAvailableMemory();
    assert.ok(memory !== undefined && memory > 1024 * 1024 && memory <= totalmem());
    assert.match(readSystemName() ?? "", /^[^"\n]+$/);
    assert.ok(listPids().includes(process.pid));
    assert.ok(listPids().every((pid) => Number.isInteger(pid) && pid > 0));
  });
});
