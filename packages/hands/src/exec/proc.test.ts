import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readProcessStat, readProcessVariable, listProcesses } from "./proc.ts";
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
