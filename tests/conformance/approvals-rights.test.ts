import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { readFrames } from "../support/agent-server.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { ForeignExecutor } from "../support/foreign-executor.ts";

/* Who may approve, see and stop, with real daemons, and tokens that the command makes and revokes. */

const TASK = 'run "echo effect >> effects.txt"';

interface Token {
  readonly id: string;
  readonly token: string;
}

async function tokenOf(stage: Stage, owner: string, scopes: string): Promise<Token> {
  const made = await stage.run("tokens", "create", "--json", "--owner", owner, "--scopes", scopes);
  assert.equal(made.code, 0, made.stderr);
  const { token_id: id, token } = JSON.parse(made.stdout) as { token_id: string; token: string };
  return { id, token };
}

/** A client of one daemon with one token. */
class Client {
  readonly #daemon: DaemonProcess;
  readonly #token: string;

  constructor(daemon: DaemonProcess, token: string) {
    this.#daemon = daemon;
    this.#token = token;
  }

  fetch(path: string, body?: JsonObject): Promise<Response> {
    return fetch(this.#daemon.url + path, {
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  }

  async ask(path: string, body?: JsonObject): Promise<{ status: number; json: JsonObject }> {
    const response = await this.fetch(path, body);
    return { status: response.status, json: (await response.json()) as JsonObject };
  }

  /** Starts a run and waits until it asks. */
  async asking(task = TASK): Promise<string> {
    const { json } = await this.ask("/v1/runs", { task });
    const run = json["id"] as string;
    await until("the run asks", async () => (await this.ask(`/v1/runs/${run}`)).json["status"] === "asking");
    return run;
  }
}

test("a token that only runs tasks cannot approve what they do, one with the scope approve can, and no is always taken", async () => {
  await using stage = await Stage.set();
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const [tasks, approver] = [await tokenOf(stage, "ana", "runs"), await tokenOf(stage, "ana", "runs,approve")];
  const [ana, chief] = [new Client(daemon, tasks.token), new Client(daemon, approver.token)];
  const run = await ana.asking();
  const refused = await ana.ask(`/v1/runs/${run}/answers`, { answer: "yes" });
  assert.deepEqual([refused.status, refused.json["code"]], [403, "FORBIDDEN"]);
  assert.equal((await ana.ask(`/v1/runs/${run}`)).json["status"], "asking");
  assert.equal((await chief.ask(`/v1/runs/${run}/answers`, { answer: "yes" })).status, 200);
  const other = await ana.asking();
  assert.equal((await ana.ask(`/v1/runs/${other}/answers`, { answer: "no" })).status, 200);
  const root = new Client(daemon, daemon.token);
  const third = await ana.asking();
  assert.equal((await root.ask(`/v1/runs/${third}/answers`, { answer: "yes" })).status, 200, "administrators may");
});

test("an executor that follows a run of its owner on another hand approves there only with the scope approve", async () => {
  await using stage = await Stage.set();
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const [tasks, approver] = [await tokenOf(stage, "ana", "runs"), await tokenOf(stage, "ana", "runs,approve")];
  const ana = new Client(daemon, tasks.token);
  const run = await ana.asking();
  const thread = (await ana.ask(`/v1/runs/${run}`)).json["thread"] as string;
  const dialled = async (token: string, path: string, handshake: JsonObject) => {
    const executor = await ForeignExecutor.dial({ url: daemon.url, token, path });
    await executor.shake(handshake);
    const { payload } = await executor.hears("tool_call_request");
    return { executor, call: { tool_call_id: payload["tool_call_id"] ?? "" } };
  };
  const ways = [
    [`/ws/tasks/${run}`, {}],
    ["/executor", { resume: { session_id: thread, last_seq: 0 } }],
  ] as const;
  const yeses = [
    {},
    { answer: "yes for this run" },
    { modifications: { command: "touch", args: ["effects.txt"] } },
    { modifications: "touch effects.txt" },
  ];
  for (const [path, handshake] of ways) {
    const { executor, call } = await dialled(tasks.token, path, handshake);
    await using _ = executor;
    for (const yes of yeses) {
      executor.say("tool_approval", { ...call, approved: true, ...yes });
      assert.equal((await executor.hears("error")).payload["code"], "FORBIDDEN", `${path} ${JSON.stringify(yes)}`);
    }
  }
  assert.equal((await ana.ask(`/v1/runs/${run}`)).json["status"], "asking");
  const { executor, call } = await dialled(approver.token, `/ws/tasks/${run}`, {});
  await using _ = executor;
  executor.say("tool_approval", { ...call, approved: true });
  assert.equal((await executor.hears("task_completed")).payload["final_status"], "completed");
});

test("only an administrator adds a rule for the runs of every owner: the right to approve is not enough", async () => {
  await using stage = await Stage.set({ VIDRO_OWNERS_APPROVE: "1" });
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const policy = join(stage.home, "policy.json");
  const [owner, approver] = [await tokenOf(stage, "ana", "runs"), await tokenOf(stage, "ana", "runs,approve")];
  const ana = new Client(daemon, owner.token);
  const run = await ana.asking();
  for (const client of [ana, new Client(daemon, approver.token)]) {
    const { status, json } = await client.ask(`/v1/runs/${run}/answers`, { answer: "yes, always" });
    assert.deepEqual([status, json["code"]], [403, "FORBIDDEN"]);
    assert.match(JSON.stringify(json), /every owner.*stays open/);
  }
  assert.equal(existsSync(policy), false);
  const root = new Client(daemon, daemon.token);
  assert.equal((await root.ask(`/v1/runs/${run}/answers`, { answer: "yes, always" })).status, 200);
  assert.equal(existsSync(policy), true);
});

test("where the administrator lets them, owners approve what their own runs do", async () => {
  await using stage = await Stage.set({ VIDRO_OWNERS_APPROVE: "1" });
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const ana = new Client(daemon, (await tokenOf(stage, "ana", "runs")).token);
  const bo = new Client(daemon, (await tokenOf(stage, "bo", "runs")).token);
  const run = await ana.asking();
  assert.equal((await bo.ask(`/v1/runs/${run}/answers`, { answer: "yes" })).status, 404);
  assert.equal((await ana.ask(`/v1/runs/${run}/answers`, { answer: "yes" })).status, 200);
});

test("an administrator sees, follows and stops every run", async () => {
  await using stage = await Stage.set();
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const ana = new Client(daemon, (await tokenOf(stage, "ana", "runs")).token);
  const bo = new Client(daemon, (await tokenOf(stage, "bo", "runs")).token);
  const root = new Client(daemon, daemon.token);
  const run = await ana.asking();
  const idsOf = async (client: Client, query = ""): Promise<unknown[]> =>
    ((await client.ask(`/v1/runs${query}`)).json["runs"] as readonly JsonObject[]).map(({ id }) => id);
  assert.deepEqual(await idsOf(root), [run]);
  assert.deepEqual(await idsOf(root, "?owner=bo"), []);
  assert.deepEqual(await idsOf(bo, "?owner=ana"), [], "only its owner and administrators see a run");
  assert.equal((await bo.ask(`/v1/runs/${run}`)).status, 404);
  const stopped = await root.ask(`/v1/runs/${run}/abort`, {});
  assert.deepEqual([stopped.status, stopped.json["status"]], [200, "aborted"]);
});

test("revoking a token ends the runs that it asked for, and its streams end with a terminal event", async () => {
  await using stage = await Stage.set();
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const [lost, kept] = [await tokenOf(stage, "ana", "runs"), await tokenOf(stage, "ana", "runs")];
  const [thief, ana] = [new Client(daemon, lost.token), new Client(daemon, kept.token)];
  const [bad, good] = [await thief.asking(), await ana.asking()];
  const own = await thief.fetch(`/agent/runs/${bad}/events`);
  const other = await thief.fetch(`/agent/runs/${good}/events`);
  const ends = Promise.all(
    [own, other].map(async (response) => (await Array.fromAsync(readFrames(response))).at(-1)?.data["type"]),
  );
  assert.equal((await stage.run("tokens", "revoke", lost.id)).code, 0);
  assert.deepEqual(await ends, ["error", "error"]);
  // The daemon closes the connections of the revoked token, which the client may share among tokens.
  const status = (run: string): Promise<unknown> =>
    ana.ask(`/v1/runs/${run}`).then(
      ({ json }) => json["status"],
      () => undefined,
    );
  await until("its run has ended", async () => (await status(bad)) === "aborted");
  assert.equal(await status(good), "asking", "other tokens' runs go on");
});

test("a token that is revoked while no daemon is up ends its runs when one comes up", async () => {
  await using stage = await Stage.set();
  const first = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const lost = await tokenOf(stage, "ana", "runs");
  const run = await new Client(first, lost.token).asking();
  await first.end("SIGKILL");
  assert.equal((await stage.run("tokens", "revoke", lost.id)).code, 0);
  await using second = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const root = new Client(second, second.token);
  await until("its run has ended", async () => (await root.ask(`/v1/runs/${run}`)).json["status"] === "aborted");
});
