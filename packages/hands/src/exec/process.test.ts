import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { before, describe, it, type TestContext } from "node:test";
import { HAND_LIMITS, type FactsPlan, type ProcessOutcome } from "@vidro/core";
import { openLauncher, readyLauncher, type Launcher } from "./launcher.ts";
import { ACTION_TAG_VARIABLE } from "./orphans.ts";
import { listPids, readProcessStat, readProcessVariable } from "./proc.ts";
import { processStart, runUntilGone } from "./process.ts";
import type { ProcessLaunch } from "./running-program.ts";
import { contextIn, scratch, executionOf } from "../scratch.fixture.ts";
import type { ToolExecution } from "../tools/tool.ts";

const PLAN: FactsPlan = { kind: "facts", facts: "none" };

/** A program, how long it may run, and where a launcher is looked for. */
type TimedLaunch = ProcessLaunch & { readonly timeoutMs: number; readonly find?: () => Launcher | undefined };

function runProcess({ timeoutMs, find, ...launch }: TimedLaunch, execution: ToolExecution): Promise<ProcessOutcome> {
  return runUntilGone({ start: processStart(launch, find), timeoutMs }, execution);
}

function set(t: TestContext, command: string, more: Partial<TimedLaunch> & Partial<ToolExecution<FactsPlan>> = {}) {
  const context = contextIn(scratch(t));
  const action = more.action ?? `act_${Math.random().toString(36).slice(2)}`;
  const execution = executionOf(context, PLAN, {
    action,
    ...(more.signal === undefined ? {} : { signal: more.signal }),
  });
  const { workspace: cwd, env } = context;
  const launch = { program: "/bin/sh", argv: ["sh", "-c", command], cwd, env, timeoutMs: 10_000, ...more };
  return { execution, run: (): Promise<ProcessOutcome> => runProcess(launch, execution) };
}

/** The living processes of an action, whatever became of their parents. */
function survivors(action: string): number[] {
  return listPids().filter((pid) => readProcessVariable(pid, ACTION_TAG_VARIABLE)?.endsWith(`/${action}`) === true);
}

/** A program that takes so many MiB in each of so many processes, and waits. */
const eater = (mib: number, processes: number): string =>
  `for i in $(seq ${processes}); do perl -e '$x = "x" x (${mib} << 20); print "full\\n"; sleep 1000' & done; wait`;

describe("the memory of a command", () => {
  const MIB = 1024 * 1024;

  it("is bounded for all of its processes together, and what has more is ended and told", async (t) => {
    const { execution } = set(t, "");
    const context = { ...execution.context, memoryBytes: () => 200 * MIB };
    const launch = { program: "/bin/sh", argv: ["sh", "-c", eater(80, 4)], cwd: context.workspace, env: context.env };
    const outcome = await runProcess({ ...launch, timeoutMs: 60_000 }, { ...execution, context });
    assert.equal(outcome.signal, "SIGKILL");
    assert.equal(outcome.timedOut, false);
    assert.match(outcome.stderr.text, /^\[ended: its processes had more memory than 200 MiB\]$/mu);
    assert.deepEqual(survivors(execution.action), []);
  });

  it("counts processes that have left the tree", async (t) => {
    const { execution } = set(t, "");
    const context = { ...execution.context, memoryBytes: () => 100 * MIB };
    const away = `setsid -f perl -e '$x = "x" x (150 << 20); sleep 1000'; sleep 1000`;
    const launch = { program: "/bin/sh", argv: ["sh", "-c", away], cwd: context.workspace, env: context.env };
    const outcome = await runProcess({ ...launch, timeoutMs: 60_000 }, { ...execution, context });
    assert.match(outcome.stderr.text, /more memory than 100 MiB/u);
    assert.deepEqual(survivors(execution.action), []);
  });

  it("is what the kernel takes first when the host has no more", async (t) => {
    const { run } = set(t, "sleep 0.3; cat /proc/self/oom_score_adj");
    assert.equal((await run()).stdout.text, "1000\n");
  });

  it("leaves programs alone that reserve much and use little", async (t) => {
    const argv = ["node", "-e", "new ArrayBuffer(8 * 2 ** 30, { maxByteLength: 2 ** 35 }); setTimeout(() => {}, 500)"];
    const { run } = set(t, "", { program: process.execPath, argv });
    assert.deepEqual([(await run()).exitCode, (await run()).signal], [0, null]);
  });
});

for (const [name, find] of [
  ["that a launcher starts", readyLauncher],
  ["of a host without a launcher", () => undefined],
] as const)
  describe(`a process ${name}`, () => {
    const start = (t: TestContext, command: string, more: Parameters<typeof set>[2] = {}) =>
      set(t, command, { ...more, find });

    before(async () => assert.ok((await openLauncher()) !== undefined));

    it("ends with its exit code, its two streams and its time", async (t) => {
      const { run, execution } = start(t, "echo out; echo err >&2; exit 3");
      const outcome = await run();
      assert.equal(outcome.exitCode, 3);
      assert.equal(outcome.signal, null);
      assert.equal(outcome.timedOut, false);
      assert.equal(outcome.stdout.text, "out\n");
      assert.equal(outcome.stderr.text, "err\n");
      assert.equal(outcome.spool, undefined);
      assert.deepEqual(execution.live.toSorted(), ["err\n", "out\n"]);
      assert.throws(() => statSync(execution.spool), { code: "ENOENT" });
    });

    it("gets its words as they are, the environment of the plan, the tag, and an empty input", async (t) => {
      const { run } = start(t, "", {
        program: "/usr/bin/env",
        argv: ["env"],
        env: { ONLY: "this" },
        action: "act_env",
      });
      const lines = (await run()).stdout.text.trim().split("\n");
      assert.deepEqual(
        lines.map((line) => line.split("=")[0]),
        ["ONLY", ACTION_TAG_VARIABLE],
      );
      assert.match(lines[1] ?? "", /\/act_env$/u);
      const words = ["cat", "-", "/dev/null"];
      assert.equal((await start(t, "", { program: "/bin/cat", argv: words }).run()).stdout.text, "");
      const quoted = ["printf", "%s|", "$HOME", "; ls", "*", ""];
      assert.equal(
        (await start(t, "", { program: "/usr/bin/printf", argv: quoted }).run()).stdout.text,
        "$HOME|; ls|*||",
      );
    });

    it("says why it could not start", async (t) => {
      await assert.rejects(start(t, "", { program: "/nowhere/x", argv: ["x"] }).run(), {
        code: "TOOL_FAILED",
        message: /^x could not be started .* is not there\.$/u,
      });
      await assert.rejects(start(t, "", { program: "/etc/passwd", argv: ["p"] }).run(), {
        message: /may not be executed/u,
      });
    });

    it("F8: ends its whole tree when time is up, also a grandchild with a session of its own", async (t) => {
      const { run, execution } = start(t, "setsid sleep 1001 >/dev/null 2>&1 & setsid -f sleep 1002; sleep 1003", {
        timeoutMs: 200,
      });
      const outcome = await run();
      assert.equal(outcome.timedOut, true);
      assert.equal(outcome.signal, "SIGTERM");
      assert.ok(outcome.durationMs < HAND_LIMITS.graceMs, `${outcome.durationMs} ms`);
      assert.deepEqual(survivors(execution.action), []);
    });

    it("F8: ends its whole tree when it is aborted, with what it printed until then", async (t) => {
      const abort = new AbortController();
      const { run, execution } = start(t, "echo begun; sleep 1004", { signal: abort.signal });
      execution.output = () => abort.abort();
      const outcome = await run();
      assert.equal(outcome.signal, "SIGTERM");
      assert.equal(outcome.timedOut, false);
      assert.equal(outcome.stdout.text, "begun\n");
      assert.deepEqual(survivors(execution.action), []);
    });

    it("F8: is killed when it does not heed, after the grace time and not before", async (t) => {
      const { run, execution } = start(t, "trap '' TERM; while :; do sleep 1; done", { timeoutMs: 100 });
      const outcome = await run();
      assert.equal(outcome.signal, "SIGKILL");
      assert.equal(outcome.timedOut, true);
      assert.ok(
        outcome.durationMs >= HAND_LIMITS.graceMs && outcome.durationMs < HAND_LIMITS.graceMs + 1500,
        `${outcome.durationMs} ms`,
      );
      assert.deepEqual(survivors(execution.action), []);
    });

    it("takes its background children along, also those that scrubbed their environment", async (t) => {
      const kept = start(t, "sleep 1005 & echo $!");
      const outcome = await kept.run();
      assert.equal(outcome.exitCode, 0);
      assert.ok(outcome.durationMs < HAND_LIMITS.pipesMs + 1000);
      assert.deepEqual(survivors(kept.execution.action), []);
      const bare = start(t, "env -i sleep 1006 & echo $!; sleep 1007", { timeoutMs: 200 });
      const pid = Number((await bare.run()).stdout.text);
      // Its new parent may not have looked at it yet: a zombie is as dead as one that is gone.
      assert.equal(readProcessStat(pid)?.state ?? "Z", "Z");
    });

    it("gives late output of background children some time to arrive", async (t) => {
      assert.equal((await start(t, "(sleep 0.2; echo late) &").run()).stdout.text, "late\n");
    });

    it("ends soon a process that fled its group while the command ended well", async (t) => {
      const { run, execution } = start(t, "setsid -f sleep 1008 >/dev/null 2>&1");
      assert.equal((await run()).exitCode, 0);
      for (let left = 40; left > 0 && survivors(execution.action).length > 0; left -= 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      assert.deepEqual(survivors(execution.action), []);
    });
  });

describe("a process that prints a lot (F21)", () => {
  const MIB = 1024 * 1024;
  /** What the whole test process may hold: the figure is for the hand, and this is one with a test runner in it. */
  const RSS_BYTES = 220 * MIB;

  it("prints without end, and still ends on time", async (t) => {
    const outcome = await set(t, "yes", { timeoutMs: 1000 }).run();
    assert.equal(outcome.timedOut, true);
    assert.ok(outcome.durationMs < 2500, `${outcome.durationMs} ms`);
    assert.ok(outcome.stdout.bytes > HAND_LIMITS.spoolBytes / 64);
    assert.ok(process.memoryUsage.rss() < RSS_BYTES, `${process.memoryUsage.rss()} bytes`);
  });

  it("prints one line of 100 MB: head, tail, total and hash are kept, the spool up to its bound", async (t) => {
    const { run, execution } = set(t, "head -c 100000000 /dev/zero | tr '\\0' x; exit 4", { timeoutMs: 20_000 });
    const outcome = await run();
    assert.equal(outcome.exitCode, 4);
    assert.equal(outcome.stdout.bytes, 100_000_000);
    assert.equal(outcome.stdout.truncated, true);
    assert.ok(outcome.stdout.text.length < HAND_LIMITS.headBytes + HAND_LIMITS.tailBytes + 100);
    assert.equal(outcome.spool, "spool.out");
    assert.equal(statSync(execution.spool).size, HAND_LIMITS.spoolBytes);
    assert.ok(execution.live.join("").length < 20 * HAND_LIMITS.liveBytesPerSecond);
    assert.ok(process.memoryUsage.rss() < RSS_BYTES, `${process.memoryUsage.rss()} bytes`);
  });

  it("prints single bytes and binary", async (t) => {
    const single = await set(t, "i=0; while [ $i -lt 5000 ]; do printf x; i=$((i+1)); done").run();
    assert.equal(single.stdout.text, "x".repeat(5000));
    const binary = await set(t, "head -c 1000000 /dev/urandom").run();
    assert.equal(binary.stdout.bytes, 1_000_000);
    assert.equal(typeof JSON.parse(JSON.stringify(binary)), "object");
  });

  it("spools what the outcome cannot hold, whole and in order", async (t) => {
    const { run, execution } = set(t, "seq 1 100000");
    const outcome = await run();
    assert.equal(outcome.stdout.truncated, true);
    const spooled = readFileSync(execution.spool, "utf8");
    assert.equal(spooled, Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join(""));
  });
});
