import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { childrenOf, readOwnMemory, readProcessStat } from "./proc.ts";
import { preferForOomKill, watchMemory } from "./memory-watch.ts";

const MIB = 1024 * 1024;

/** A program that has so much memory of its own, held by itself or by a process that it started. */
async function holder(t: TestContext, mib: number, isInChild: boolean) {
  const hold = `const b = Buffer.alloc(${mib} * 1024 * 1024, 1); console.log("ready"); setInterval(() => b[0], 1000);`;
  const args = isInChild
    ? [
        "-e",
        `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(hold)}], { stdio: "inherit" })`,
      ]
    : ["-e", hold];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], detached: true });
  const pid = child.pid ?? 0;
  t.after(() => process.kill(-pid, "SIGKILL"));
  await once(child.stdout, "data");
  return pid;
}

for (const isInChild of [false, true])
  test(`memory ${isInChild ? "of a child of a program" : "of a program"} beyond the bound is noticed, once`, async (t) => {
    const pid = await holder(t, 200, isInChild);
    let calls = 0;
    const over = Promise.withResolvers<void>();
    const stop = watchMemory({ pid, tag: "none", bytes: 150 * MIB }, () => {
      calls += 1;
      over.resolve();
    });
    await over.promise;
    assert.equal(calls, 1);
    stop();
    const all = [pid, ...childrenOf(pid)].map(readOwnMemory).reduce((sum, one) => sum + one, 0);
    assert.ok(all > 150 * MIB);
  });

test("a program within its bound is left alone, also when it ends while it is watched", async (t) => {
  const pid = await holder(t, 20, false);
  let calls = 0;
  const stop = watchMemory({ pid, tag: "none", bytes: 4096 * MIB }, () => (calls += 1));
  const looks = Promise.withResolvers<void>();
  // Another watch, whose bound is always passed, tells when looks have been taken.
  watchMemory({ pid, tag: "none", bytes: 0 }, looks.resolve);
  await looks.promise;
  stop();
  assert.equal(calls, 0);
});

test("a program and what it starts from then on are ended first when the host has no memory left", async (t) => {
  const pid = await holder(t, 1, false);
  preferForOomKill(pid);
  assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim(), "1000");
  assert.doesNotThrow(() => preferForOomKill(0x7ffffffe));
});

test("a process that is not there has no memory, no children and no stat", () => {
  assert.equal(readOwnMemory(0x7ffffffe), 0);
  assert.deepEqual(childrenOf(0x7ffffffe), []);
  assert.equal(readProcessStat(-1), undefined);
});
