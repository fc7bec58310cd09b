import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { SignJWT } from "jose";
import { Fault, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { serveDaemon } from "./daemon.ts";
import { readConfig } from "./config.ts";
import type { Daemon, DaemonOptions } from "./daemon.ts";

/** A home and the daemons in it; all of it is gone in the end. */
class Home implements AsyncDisposable {
  readonly folder: string;
  readonly lines: JsonObject[] = [];
  readonly #daemons: Daemon[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Home> {
    return new Home(await mkdtemp(join(tmpdir(), "vidro-daemon-")));
  }

  get state(): string {
    return join(this.folder, "state");
  }

  async start(options: Partial<DaemonOptions> = {}): Promise<Daemon> {
    const daemon = await serveDaemon({
      home: this.state,
      config: readConfig({
        env: { VIDRO_MODEL: "offline", PATH: process.env["PATH"], SOME_API_KEY: "hunter2-hunter2" },
      }),
      workspace: this.folder,
      host: "127.0.0.1",
      port: 0,
      onRestart: "resume",
      localHand: true,
      version: "1.2.3",
      writeLog: (line) => void this.lines.push(objectOf(line)),
      ...options,
    });
    this.#daemons.push(daemon);
    return daemon;
  }

  async call(daemon: Daemon, path: string, body?: JsonObject): Promise<Response> {
    const token = (await readFile(daemon.tokenFile, "utf8")).trim();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(
      daemon.url + path,
      body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const daemon of this.#daemons) await daemon.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function objectOf(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  assert.ok(isObject(value));
  return value;
}

function textOf(value: Json | undefined): string {
  assert.ok(typeof value === "string");
  return value;
}

/** Gives a task on the agent's own wire and waits for its end. */
async function generate(home: Home, daemon: Daemon, prompt: string): Promise<string> {
  const session = objectOf(await (await home.call(daemon, "/agent/sessions", {})).text());
  const response = await home.call(daemon, "/agent/generate", { session_id: session["session_id"] ?? "", prompt });
  assert.equal(response.status, 200, await response.clone().text());
  return response.text();
}

test("000-56: a daemon leaves its address and the first token where only its user reads them", async () => {
  await using home = await Home.make();
  const daemon = await home.start();
  for (const name of ["token", "daemon.json"])
    assert.equal((await stat(join(home.state, name))).mode & 0o777, 0o600, name);
  assert.equal((await stat(home.state)).mode & 0o777, 0o700);
  const { pid, url, token_file: tokens } = objectOf(await readFile(join(home.state, "daemon.json"), "utf8"));
  assert.deepEqual({ pid, url, tokens }, { pid: process.pid, url: daemon.url, tokens: daemon.tokenFile });
  assert.equal((await home.call(daemon, "/metrics")).status, 200);
  assert.deepEqual(await (await home.call(daemon, "/readyz")).json(), {
    status: "ready",
    checks: { store: "ok", disk: "ok", descriptors: "ok", runs: "ok", hands: "ok" },
  });
});

test("the first token outlives a restart, and one that is no longer good is replaced", async () => {
  await using home = await Home.make();
  const first = await home.start();
  const token = await readFile(first.tokenFile, "utf8");
  await first.close();
  await assert.rejects(stat(join(home.state, "daemon.json")));
  const second = await home.start();
  assert.equal(await readFile(second.tokenFile, "utf8"), token);
  await second.close();
  await writeFile(second.tokenFile, "rubbish\n");
  const third = await home.start();
  assert.notEqual(await readFile(third.tokenFile, "utf8"), "rubbish\n");
  assert.equal((await home.call(third, "/agent/status")).status, 200);
});

test("a home has one daemon", async () => {
  await using home = await Home.make();
  await home.start();
  await assert.rejects(home.start(), (thrown) => thrown instanceof Fault && thrown.code === "HOME_BUSY");
});

test("files of a daemon that died do not keep the next one from starting", async () => {
  await using home = await Home.make();
  await (await home.start()).close();
  const holder = { host: "elsewhere", boot: "long ago", pid: process.pid, started: "1" };
  const left = { pid: process.pid, url: "http://127.0.0.1:1", token_file: "x", started_at: 1, holder };
  for (const text of [JSON.stringify(left), "{", "[]", ""]) {
    await writeFile(join(home.state, "daemon.json"), text);
    await (await home.start()).close();
  }
});

test("000-59, 000-60: a run is counted, and logged with the names of its run, session, hand and actions", async () => {
  await using home = await Home.make();
  const daemon = await home.start();
  assert.match(await generate(home, daemon, "which files are here?"), /"type":"done"/);
  const metrics = await (await home.call(daemon, "/metrics")).text();
  for (const line of [
    'vidro_ingest_total{kind="task"} 1',
    'vidro_runs_total{state="started"} 1',
    'vidro_runs_total{state="finished"} 1',
    'vidro_actions_total{outcome="ok"} 1',
    'vidro_hands{state="ok"} 1',
  ])
    assert.ok(metrics.includes(`\n${line}\n`), `${line} is missing in\n${metrics}`);
  assert.match(metrics, /^vidro_journal_commit_seconds_count [1-9]/m);
  const acted = home.lines.find(({ event }) => event === "action.finished");
  assert.match(textOf(acted?.["timestamp"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.equal(acted?.["level"], "info");
  assert.match(textOf(acted?.["run_id"]), /^run_/);
  assert.match(textOf(acted?.["session_id"]), /^[\da-f-]{36}$/);
  assert.equal(acted?.["agent_id"], "local");
  assert.match(textOf(acted?.["action_id"]), /^act_/);
  const ended = home.lines.find(({ event }) => event === "run.finished");
  assert.equal(ended?.["session_id"], acted?.["session_id"]);
  const asked = home.lines.find(({ path }) => path === "/agent/generate");
  assert.equal(asked?.["run_id"], acted?.["run_id"]);
  assert.match(textOf(asked?.["trace_id"]), /^[\da-f]{32}$/);
});

test("no secret of the environment and no token is in the log", async () => {
  await using home = await Home.make();
  const daemon = await home.start();
  await generate(home, daemon, "say hunter2-hunter2");
  const token = (await readFile(daemon.tokenFile, "utf8")).trim();
  const log = JSON.stringify(home.lines);
  assert.ok(!log.includes("hunter2-hunter2") && !log.includes(token.split(".")[1] ?? token));
});

test("signed tokens of the issuer that the settings name are accepted", async () => {
  await using home = await Home.make();
  const secret = "a secret that is long enough to sign with";
  const daemon = await home.start({
    config: readConfig({ env: { VIDRO_MODEL: "offline", VIDRO_JWT_SECRET: secret, VIDRO_JWT_ISSUER: "us" } }),
  });
  const sign = (issuer: string): Promise<string> =>
    new SignJWT({ roles: ["user"] })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject("ada")
      .setIssuer(issuer)
      .setExpirationTime("1 minute")
      .sign(new TextEncoder().encode(secret));
  const ask = async (token: string): Promise<number> =>
    (await fetch(`${daemon.url}/agent/status`, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await ask(await sign("us")), 200);
  assert.equal(await ask(await sign("them")), 401);
  const warned = home.lines.filter((line) => JSON.stringify(line).includes("VIDRO_JWT_AUDIENCE"));
  assert.equal(warned.length, 1, "a missing audience is warned about at the start");
  await assert.rejects(
    home.start({ home: join(home.folder, "other"), config: readConfig({ env: { VIDRO_JWT_PUBLIC_KEY: "/nowhere" } }) }),
    /cannot be read/,
  );
});

test("without a local hand the daemon is up, and what needs a hand is refused by name", async () => {
  await using home = await Home.make();
  const daemon = await home.start({ localHand: false });
  assert.equal((await home.call(daemon, "/readyz")).status, 200);
  assert.match(await (await home.call(daemon, "/metrics")).text(), /^vidro_hands\{state="ok"\} 0$/m);
  const session = objectOf(await (await home.call(daemon, "/agent/sessions", {})).text());
  const refused = await home.call(daemon, "/agent/generate", {
    session_id: session["session_id"] ?? "",
    prompt: "hello",
  });
  assert.equal(refused.status, 503);
  assert.equal(objectOf(await refused.text())["code"], "HAND_UNAVAILABLE");
});

test("a daemon that cannot listen gives back what it took", async () => {
  await using home = await Home.make();
  await assert.rejects(home.start({ host: "0.0.0.0" }), /without TLS/);
  await assert.rejects(home.start({ host: "0.0.0.0", tls: { cert: "/nowhere", key: "/nowhere" } }), /cannot be read/);
  await home.start();
});
