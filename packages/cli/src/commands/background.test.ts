import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { lines, Stage } from "../stage.fixture.ts";

/* The daemon in the background: started, looked at, restarted and ended by commands that return. */

/** Ends the daemon of a stage when a test is over, however it went. */
function stopping(stage: Stage): AsyncDisposable {
  return { [Symbol.asyncDispose]: async () => void (await stage.run("stop", "--now")) };
}

interface Ready {
  readonly pid: number;
  readonly url: string;
  readonly log: string;
}

async function upInBackground(stage: Stage, ...flags: readonly string[]): Promise<Ready> {
  const { code, stdout, stderr } = await stage.run("up", "-d", "--json", ...flags);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Ready;
}

test("up -d returns when it is ready, and leaves a daemon of its own session that logs, restarts with its flags and stops", async () => {
  await using stage = await Stage.set();
  await using _ = stopping(stage);
  const first = await upInBackground(stage, "--port", "0", "--no-local-hand");
  const [, , , session] = readFileSync(`/proc/${first.pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  assert.equal(Number(session), first.pid, "no terminal ends it");
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200);
  assert.equal(statSync(first.log).mode & 0o777, 0o600);

  const again = await stage.run("up", "-d");
  assert.equal(again.code, 0);
  assert.match(again.stderr, new RegExp(`is up already[^]*${first.url}, process ${first.pid}`));
  const told = await stage.run("logs", "-n", "200");
  assert.match(told.stdout, /^\d\d:\d\d:\d\d info {2}The daemon is up and serves requests\. daemon\.started url=http/m);

  const restarted = await stage.run("restart");
  assert.equal(restarted.code, 0, restarted.stderr);
  assert.match(restarted.stderr, new RegExp(`has ended, process ${first.pid}\\.[^]*Vidro is up at http`));
  const left = existsSync(`/proc/${first.pid}`) ? readFileSync(`/proc/${first.pid}/stat`, "utf8") : ") Z";
  assert.match(left, /\) Z/, "the first one is gone");
  const hands = lines((await stage.run("hands", "list", "--json")).stdout);
  assert.deepEqual(hands, [], "it has its flags again: no hand of this machine");

  const stopped = await stage.run("stop");
  assert.deepEqual([stopped.code, /^Vidro has ended, process \d+\.$/m.test(stopped.stderr)], [0, true], stopped.stderr);
  const none = await stage.run("stop");
  assert.deepEqual([none.code, none.stderr], [0, "Vidro is not up, so there is nothing to end.\n"]);
  assert.match((await stage.run("logs", "-n", "1")).stdout, /The daemon is down\. daemon\.stopped/, "the log stays");
});

test("a daemon that does not come up says why, with the exit code of its fault", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  await using stage = await Stage.set();
  const none = await stage.run("logs");
  assert.deepEqual([none.code, /vidro up -d/.test(none.stderr)], [3, true], none.stderr);
  const { code, stderr } = await stage.run("up", "-d", "--port", String((other.address() as AddressInfo).port));
  assert.equal(code, 6, stderr);
  assert.match(stderr, /is taken: another program listens there[^]*The daemon did not come up: process \d+ ended/);
  assert.equal((await stage.run("status")).code, 7);
});

test("stop says what it waits for, and with --now it waits for nothing", async () => {
  await using stage = await Stage.set();
  await using _ = stopping(stage);
  const { url } = await upInBackground(stage, "--port", "0");
  const token = readFileSync(join(stage.home, "token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ task: "run `sleep 60`" });
  const run = (await (await fetch(`${url}/v1/runs`, { method: "POST", headers, body })).json()) as { id: string };
  const followed = await fetch(`${url}/v1/runs/${run.id}/events`, { headers });
  const reading = followed.text().catch(() => undefined);
  const { code, stderr } = await stage.run("stop", "--now");
  await reading;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /has ended, process \d+\. 1 open run goes on at the next start\./);
});

test("logs -f goes on with what is written, also when a new file takes the place of a full one", async () => {
  await using stage = await Stage.set();
  mkdirSync(stage.home, { recursive: true });
  const log = join(stage.home, "daemon.log");
  const line = (message: string): string => `${JSON.stringify({ level: "info", event: "e", message })}\n`;
  writeFileSync(`${log}.1`, line("oldest"));
  writeFileSync(log, line("before"));
  const child = stage.start("logs", "-f", "-n", "2", "--json");
  const seen: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const next = async (): Promise<void> => {
    for await (const text of reader) {
      seen.push((JSON.parse(text) as { message: string }).message);
      if (seen.length === 2) appendFileSync(log, line("after"));
      if (seen.length === 3) writeFileSync(log, line("new"));
      if (seen.length === 4) child.kill("SIGINT");
    }
  };
  const ended = once(child, "close");
  await next();
  assert.deepEqual(seen, ["oldest", "before", "after", "new"]);
  assert.deepEqual(await ended, [0, null]);
});

test("the unit of the daemon has a user of its own, and systemd takes it as it is", async () => {
  await using stage = await Stage.set();
  const { code, stdout, stderr } = await stage.run("unit", "--dry-run");
  assert.equal(code, 0, stderr);
  const unit = stdout.slice(stdout.indexOf("[Unit]"), stdout.indexOf("systemctl daemon-reload"));
  for (const words of [
    "User=vidro",
    "Environment=VIDRO_HOME=/var/lib/vidro/state",
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
  ])
    assert.ok(unit.split("\n").includes(words), words);
  assert.match(unit, /^ExecStart=\/\S+\/bin\/vidro up --json --supervised$/m);
  const [, launcher = ""] = /^ExecStart=(\S+)/m.exec(unit) ?? [];
  assert.match(execFileSync(launcher, ["--version"], { encoding: "utf8" }), /^\d/);
  const path = join(stage.workspace, "vidro.service");
  writeFileSync(path, unit);
  const checked = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
  if (checked.error === undefined) assert.doesNotMatch(checked.stderr, /Unknown|Failed to parse|invalid/i);
});

test("a daemon that does not answer is named, waited for, and left out in words", async () => {
  await using stage = await Stage.set();
  await using _ = stopping(stage);
  const { pid } = await upInBackground(stage, "--port", "0");
  process.kill(pid, "SIGSTOP");
  const { code, stderr } = await stage.run("run", "what time is it?");
  process.kill(pid, "SIGCONT");
  assert.equal(code, 0, stderr);
  const [waiting, leftOut, brain] = stderr.split("\n");
  assert.equal(waiting, `The daemon, process ${pid}, does not answer yet; waiting.`);
  assert.equal(
    leftOut,
    `The daemon, process ${pid}, is there but does not answer, and is left out: vidro stop --now ends it.`,
  );
  assert.equal(brain, "brain: inside this command");
});
