import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";

/* Daemons that are started on one home at the same moment: one of them is it, and the others say which. */

/** What a daemon says first: that it is ready, or why it is not. */
interface Said {
  readonly ready?: boolean;
  readonly url?: string;
  readonly code?: string;
  readonly message?: string;
  readonly next?: string;
}

/** A process that tries to be the daemon of a stage's home. */
interface Rival {
  readonly pid: number;
  readonly said: Promise<Said>;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** All that are started on one home; none of them outlives its test. */
class Rivals implements AsyncDisposable {
  readonly #stage: Stage;
  readonly #all: Rival[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  start(...before: readonly string[]): Rival {
    const { command, workspace } = this.#stage;
    const [program, ...args] = [...before, ...command.argv, "up", "--json", "--port", "0"];
    const child = spawn(program, args, { cwd: workspace, env: command.env, stdio: ["ignore", "pipe", "ignore"] });
    const gone = once(child, "exit");
    const rival = {
      pid: child.pid ?? 0,
      said: firstLine(child.stdout),
      async end(signal: NodeJS.Signals) {
        if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
        child.kill(signal);
        await gone;
        return child.exitCode;
      },
    };
    this.#all.push(rival);
    return rival;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const rival of this.#all) await rival.end("SIGKILL");
  }
}

async function firstLine(stream: Readable): Promise<Said> {
  for await (const line of createInterface({ input: stream })) return JSON.parse(line) as Said;
  return {};
}

test("of daemons that start on one home at the same moment exactly one is up, and kill -9 frees the home at once", async () => {
  await using stage = await Stage.set();
  await using rivals = new Rivals(stage);
  for (const count of [2, 2, 10, 2, 10, 2]) {
    const started = Array.from({ length: count }, () => rivals.start());
    const said = await Promise.all(started.map((rival) => rival.said));
    const up = started.filter((_, index) => said[index]?.ready === true);
    assert.equal(up.length, 1, JSON.stringify(said));
    const [winner] = up;
    for (const { ready, code, message = "", next } of said) {
      if (ready === true) continue;
      assert.equal(code, "HOME_BUSY", message);
      assert.ok(message.startsWith(`Process ${winner?.pid} on `), message);
      assert.match(message, /Use that one, or end it first/);
      assert.equal(next, "See how it is: vidro status");
    }
    await winner?.end("SIGKILL");
  }
});

test("a daemon that is up is named to the second one with its address, also across pid namespaces", async (t) => {
  await using stage = await Stage.set();
  await using rivals = new Rivals(stage);
  const first = rivals.start();
  const { url = "" } = await first.said;
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user", "--user"];
  const before = ["unshare", ...asRoot, "--pid", "--fork", "--kill-child", "--mount-proc"];
  for (const second of [rivals.start(), rivals.start(...before)]) {
    const { code, message = "" } = await second.said;
    if (code === undefined) {
      t.diagnostic("no pid namespace can be made here");
      continue;
    }
    assert.equal(code, "HOME_BUSY");
    assert.ok(message.includes(url), message);
  }
  assert.equal(await first.end("SIGTERM"), 0);
  assert.equal((await rivals.start().said).ready, true);
});

test("what lies in the file of the lock keeps no daemon from starting", async () => {
  await using stage = await Stage.set();
  await using rivals = new Rivals(stage);
  await mkdir(stage.home, { mode: 0o700 });
  for (const rubbish of ["", "1\n", "rubbish".repeat(2000)]) {
    await writeFile(join(stage.home, "daemon.lock"), rubbish);
    const daemon = rivals.start();
    assert.equal((await daemon.said).ready, true);
    const second = await rivals.start().said;
    assert.equal(second.code, "HOME_BUSY");
    await daemon.end("SIGKILL");
  }
});

test("a command of its own brain works beside a daemon of the same home", async () => {
  await using stage = await Stage.set();
  await using rivals = new Rivals(stage);
  const daemon = rivals.start();
  const { url } = await daemon.said;
  const other = join(stage.workspace, "elsewhere");
  await mkdir(other);
  const beside = await stage.run("run", "--workspace", other, "--quiet", "which files are here?");
  assert.equal(beside.code, 0, beside.stderr);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
});
