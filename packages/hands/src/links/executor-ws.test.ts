import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { handIn, policyOf, scratch } from "../scratch.fixture.ts";
import { Executor } from "./executor-ws.ts";

interface Message {
  readonly type: string;
  readonly payload: JsonObject;
}

/** A brain of a few lines: it takes an executor in and says what a test tells it to. */
class Brain {
  readonly url: string;
  readonly paths: string[] = [];
  readonly heard: Message[] = [];
  readonly #server: WebSocketServer;
  #socket: WebSocket | undefined;
  #look: (() => void) | undefined;
  #read = 0;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("connection", (socket, request) => {
      this.#socket = socket;
      this.paths.push(request.url ?? "");
      socket.on("message", (data: Buffer) => {
        this.heard.push(JSON.parse(data.toString("utf8")) as Message);
        this.#look?.();
      });
    });
  }

  static async up(t: TestContext): Promise<Brain> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    t.after(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    return new Brain(server);
  }

  say(type: string, payload: JsonObject): void {
    this.#socket?.send(JSON.stringify({ type, payload }));
  }

  cut(): void {
    for (const client of this.#server.clients) client.terminate();
  }

  leave(code: string): void {
    this.say("error", { code, message: "Go." });
    this.#socket?.close(1008, code);
  }

  async hears(type: string): Promise<JsonObject> {
    for (;;) {
      while (this.#read < this.heard.length) {
        const message = this.heard[this.#read];
        this.#read += 1;
        if (message?.type === type) return message.payload;
      }
      await new Promise<void>((resolve) => (this.#look = resolve));
    }
  }

  /** Takes the executor in, and gives its handshake. */
  async welcomes(epoch: number): Promise<JsonObject> {
    const handshake = await this.hears("handshake");
    this.say("handshake_ack", { session_id: "thread_1", task_id: "t", run_id: "run_1", session_epoch: epoch });
    return handshake;
  }

  runs(tool_id: string, command: string, more: JsonObject = {}): void {
    const call = { tool_name: "Shell", tool_id, generation_id: "g", parameters: { command, dir_path: "." } };
    this.say("run_tool", { ...call, run_id: "run_1", run_epoch: 1, ...more });
  }
}

interface Scene {
  readonly brain: Brain;
  readonly executor: Executor;
  readonly workspace: string;
}

async function scene(t: TestContext, decision: "allow" | "ask" = "allow"): Promise<Scene> {
  const brain = await Brain.up(t);
  const hand = await handIn(t, scratch(t), { policy: policyOf(decision) });
  const executor = new Executor({
    url: brain.url,
    hand,
    task: { id: "my task", prompt: "do it" },
    name: "test",
    version: "1",
    redialling: { bounds: { redialMs: 5, redialCapMs: 10 } },
  });
  t.after(() => executor.close());
  return { brain, executor, workspace: hand.workspace };
}

test("it dials under the name of its task, says what it has, and comes back with where it was", async (t) => {
  const { brain, executor, workspace } = await scene(t);
  const handshake = await brain.welcomes(1);
  assert.deepEqual(brain.paths, ["/ws/tasks/my%20task"]);
  assert.equal(handshake["initial_prompt"], "do it");
  assert.equal(handshake["working_directory"], workspace);
  assert.ok((handshake["known_tools"] as readonly string[]).includes("SearchText"));
  const custom = handshake["custom_tools"] as readonly { readonly name: string }[];
  assert.ok(custom.some(({ name }) => name === "command") && !custom.some(({ name }) => name === "shell"));
  assert.equal((await executor.joined).run_id, "run_1");
  brain.say("status_update", { status: "running" });
  brain.cut();
  assert.deepEqual((await brain.welcomes(2))["resume"], { session_id: "thread_1", last_seq: 0 });
});

test("004-18 an order runs once, however often it is sent, and gives the same end each time", async (t) => {
  const { brain, workspace } = await scene(t);
  await brain.welcomes(1);
  for (let times = 0; times < 3; times += 1) brain.runs("act_1", "echo x >> count; sleep 0.1; echo out");
  const first = await brain.hears("tool_result");
  brain.runs("act_1", "echo x >> count; sleep 0.1; echo out");
  const again = await brain.hears("tool_result");
  assert.deepEqual(again["ended"], first["ended"]);
  assert.deepEqual([first["tool_id"], first["status"], first["stdout"]], ["act_1", "success", "out\n"]);
  assert.equal(readFileSync(join(workspace, "count"), "utf8"), "x\n");
  const output = brain.heard.filter(({ type }) => type === "tool_output");
  assert.equal(output.map(({ payload }) => textOrEmpty(payload, "chunk")).join(""), "out\n");
  brain.runs("act_1", "echo another");
  assert.equal((await brain.hears("tool_result"))["code"], "ACTION_ID_REUSED");
});

test("it obeys no older brain, no nonsense, and nothing that was not approved", async (t) => {
  const { brain } = await scene(t, "ask");
  await brain.welcomes(7);
  brain.runs("act_1", "true", { session_epoch: 6 });
  assert.equal((await brain.hears("tool_result"))["code"], "STALE_EPOCH");
  brain.runs("act_2", "true", { sudo: true });
  assert.equal((await brain.hears("tool_result"))["code"], "BAD_REQUEST");
  brain.runs("act_3", "true", { session_epoch: 7 });
  assert.equal((await brain.hears("tool_result"))["code"], "APPROVAL_DENIED");
  brain.say("judge_tool", { tool_name: "Shell", tool_id: "act_4", parameters: { command: "true" } });
  const { judgement } = await brain.hears("tool_judgement");
  const { hash } = judgement as { hash: string };
  brain.runs("act_5", "false", { approved: hash });
  assert.equal((await brain.hears("tool_result"))["code"], "PLAN_CHANGED");
  brain.runs("act_4", "true", { approved: hash });
  assert.equal((await brain.hears("tool_result"))["status"], "success");
});

test("a tool that is called off ends, and its end is told", async (t) => {
  const { brain } = await scene(t);
  await brain.welcomes(1);
  brain.runs("act_1", "echo begun; sleep 60");
  await brain.hears("tool_output");
  brain.say("cancel_tool", { tool_id: "act_1" });
  const { ended } = await brain.hears("tool_result");
  assert.match(JSON.stringify(ended), /SIGTERM|SIGKILL/);
});

test("004-25 ends are told again after a cut until they are acknowledged", async (t) => {
  const { brain, executor } = await scene(t);
  await brain.welcomes(1);
  brain.runs("act_1", "true");
  await brain.hears("tool_result");
  brain.cut();
  await brain.welcomes(2);
  assert.equal((await brain.hears("tool_result"))["tool_id"], "act_1");
  brain.say("tool_acknowledged", { tool_id: "act_1" });
  brain.say("task_completed", { final_status: "completed" });
  while (executor.state.final === undefined) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(executor.state.results.size, 0);
});

test("an executor that was sent away does not reconnect; a complaint alone does not send it away", async (t) => {
  const { brain, executor } = await scene(t);
  await brain.welcomes(1);
  brain.say("error", { code: "CONFLICT", message: "Nothing waits for this answer." });
  brain.cut();
  await brain.welcomes(2);
  brain.leave("INVALID_TOKEN");
  await assert.rejects(executor.over, { code: "INVALID_TOKEN" });
  assert.equal(brain.paths.length, 2);
});
