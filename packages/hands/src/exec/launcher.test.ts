import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { contextIn, executionOf, scratch } from "../scratch.fixture.ts";
import { Launcher, openLauncher } from "./launcher.ts";
import { ACTION_TAG_VARIABLE } from "./orphans.ts";
import { listPids, readProcessStat, readProcessVariable } from "./proc.ts";
import { processStart, runUntilGone } from "./process.ts";
import type { RunningProgram } from "./running-program.ts";
import { PERL } from "./sandbox/process-screen.ts";

async function opened(t: TestContext): Promise<Launcher> {
  const launcher = new Launcher();
  t.after(() => launcher.end());
  assert.equal(await launcher.whenReady(), true);
  return launcher;
}

function line(command: string) {
  return { program: "/bin/sh", argv: ["sh", "-c", command], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
}

async function textOf({ stdout }: RunningProgram): Promise<string> {
  return (await stdout?.toArray())?.join("") ?? "";
}

const isLiving = (pid: number): boolean => (readProcessStat(pid)?.state ?? "Z") !== "Z";

/** Resolves when a condition holds, or long after it should have. */
async function until(condition: () => boolean): Promise<void> {
  for (let left = 1500; left > 0 && !condition(); left -= 1) await sleep(20);
}

describe("the launcher", { skip: !existsSync(PERL) }, () => {
  it("starts many programs at once, each with its own output, end, session and parent", async (t) => {
    const launcher = await opened(t);
    const all = Array.from({ length: 40 }, async (_, number) => {
      const program = await launcher.start(line(`echo ${number} $(ps -o sid= -p $$) $$; exit ${number}`));
      const text = await textOf(program);
      assert.deepEqual(text.trim().split(/\s+/u).map(Number), [number, program.pid, program.pid]);
      assert.deepEqual(await program.exited, { exitCode: number, signal: null });
      await program.closed;
      assert.equal(program.isRunning, false);
      return program.parent;
    });
    assert.equal(new Set(await Promise.all(all)).size, 1);
  });

  it("tells the signal that ended a program, and signals its whole group", async (t) => {
    const launcher = await opened(t);
    const program = await launcher.start(line("sleep 1000 & echo $!; wait"));
    const [member] = await once(program.stdout!, "data");
    program.signalGroup("SIGKILL");
    assert.deepEqual(await program.exited, { exitCode: null, signal: "SIGKILL" });
    await until(() => !isLiving(Number(member)));
    assert.equal(isLiving(Number(member)), false);
  });

  it("rejects with the system's code when a program or its folder is not there, refuses a NUL, and goes on", async (t) => {
    const launcher = await opened(t);
    await assert.rejects(launcher.start({ ...line(""), program: "/nowhere/x" }), { code: "ENOENT" });
    await assert.rejects(launcher.start({ ...line(""), cwd: "/nowhere" }), { code: "ENOENT" });
    await assert.rejects(launcher.start({ ...line(""), program: "/etc/passwd" }), { code: "EACCES" });
    await assert.rejects(launcher.start({ ...line(""), argv: ["sh", "-c\0/bin/id"] }), /a NUL in it/);
    assert.equal(await textOf(await launcher.start(line("echo on"))), "on\n");
  });

  it("passes no descriptor of its own on, and closes the output for both sides", async (t) => {
    const launcher = await opened(t);
    const listed = await textOf(await launcher.start(line("exec ls -l /proc/self/fd")));
    const targets = listed.match(/(?<=-> ).*/gu) ?? [];
    // A descriptor that this process inherited is /dev/null for its children; ls has the folder open.
    const kinds = new Set(targets.map((target) => target.replace(/\d+/u, "")));
    assert.deepEqual(kinds, new Set(["/dev/null", "pipe:[]", "/proc//fd"]));
    assert.equal(targets.filter((target) => target.startsWith("pipe:")).length, 2);
    const writer = await launcher.start(line("exec yes"));
    await once(writer.stdout!, "data");
    writer.stdout?.destroy();
    assert.deepEqual(await writer.exited, { exitCode: null, signal: "SIGPIPE" });
  });

  it("makes the outcome of a command unknown by its end, and nothing is left of the command", async (t) => {
    const launcher = await opened(t);
    const context = contextIn(scratch(t));
    const execution = executionOf(context, { kind: "facts", facts: "none" }, { action: "act_lost" });
    execution.output = () => {
      const [pid = 0] = listPids().filter((one) =>
        readProcessVariable(one, ACTION_TAG_VARIABLE)?.endsWith("/act_lost"),
      );
      process.kill(readProcessStat(pid)?.ppid ?? 0, "SIGKILL");
    };
    const launch = { ...line("echo begun; exec sleep 1000"), cwd: context.workspace };
    const start = processStart(launch, () => launcher);
    await assert.rejects(runUntilGone({ start, timeoutMs: 60_000 }, execution), { code: "OUTCOME_UNKNOWN" });
    assert.equal(launcher.isReady, false);
    await assert.rejects(launcher.start(line("true")), { code: "OUTCOME_UNKNOWN" });
    const left = listPids().filter((pid) => readProcessVariable(pid, ACTION_TAG_VARIABLE)?.endsWith("/act_lost"));
    assert.deepEqual(left.filter(isLiving), []);
  });

  it("is replaced when it has ended", async (t) => {
    const first = await openLauncher();
    t.after(async () => (await openLauncher())?.end());
    const running = await first?.start(line("exec sleep 1000"));
    process.kill(running?.parent ?? 0, "SIGKILL");
    await assert.rejects(running!.exited, { code: "OUTCOME_UNKNOWN" });
    process.kill(running?.pid ?? 0, "SIGKILL");
    const next = await openLauncher();
    assert.notEqual(next, first);
    assert.equal(await textOf((await next?.start(line("echo again")))!), "again\n");
  });

  it("kills what it has started when its hand is killed", async () => {
    const url = new URL("./launcher.ts", import.meta.url).href;
    const script = `import { openLauncher } from ${JSON.stringify(url)};
      const launcher = await openLauncher();
      const { pid, parent } = await launcher.start(${JSON.stringify(line("exec sleep 1000"))});
      console.log(pid, parent);`;
    const words = ["--conditions=vidro-source", "--input-type=module", "-e", script];
    const cwd = fileURLToPath(new URL(".", import.meta.url));
    const hand = spawn(process.execPath, words, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    const [said] = await once(hand.stdout, "data");
    const pids = String(said).split(" ").map(Number);
    assert.ok(pids.every(isLiving));
    hand.kill("SIGKILL");
    await until(() => !pids.some(isLiving));
    assert.deepEqual(pids.filter(isLiving), []);
  });
});
