import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { EXECUTOR_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import { startExecutorServer, startExecutorGateway } from "../support/executor-server.ts";
import { text } from "../support/fake-openai.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";

/* 004 §1: who dials, what a handshake says, and what the brain makes of it. */

const TOOL = { description: "Counts.", parameters: { type: "object", properties: { n: { type: "integer" } } } };

test("004-02 004-03 004-06 an executor dials, shakes hands with its tools and context, and gets its answer", async (t) => {
  const end = await startExecutorServer(t, text("Done."));
  await using executor = await ForeignExecutor.dial(end);
  executor.does(folderOf({ "main.py": "print(1)" }));
  const ack = await executor.shake({
    client_version: "9.9",
    initial_prompt: "look",
    custom_tools: [{ name: "count", ...TOOL }],
    project_spec: { content: "It is written in Python.", file_paths: ["README.md"] },
  });
  assert.match(textOrEmpty(ack, "session_id"), /^thread_/);
  assert.equal(ack["task_id"], ack["run_id"]);
  assert.deepEqual(ack["tools_accepted"], ["GetWorkingDirectory", "ReadFolder", "ReadFile", "count"]);
  assert.deepEqual(ack["tools_rejected"], []);
  assert.equal(ack["server_version"], "1.2.3");
  assert.equal((ack["policy"] as JsonObject)["max_payload"], REGISTER_LIMITS.messageBytes);
  assert.equal(ack["session_epoch"], 1);
  await executor.hears("task_completed");
  const asked = JSON.stringify(end.model.requests.at(-1)?.body);
  assert.match(asked, /It is written in Python\./);
});

test("004-04 the toolbelt is what is known and what is custom; other names are rejected by name", async (t) => {
  const end = await startExecutorServer(t, text("Done."));
  await using executor = await ForeignExecutor.dial(end);
  const huge = { type: "object", description: "x".repeat(REGISTER_LIMITS.schemaChars) };
  const ack = await executor.does(folderOf({})).shake({
    initial_prompt: "look",
    known_tools: ["ReadFolder", "Teleport", "shell", "constructor"],
    custom_tools: [
      { name: "count", ...TOOL },
      { name: "plan", ...TOOL },
      { name: "two words", ...TOOL },
      { name: "read_folder", ...TOOL },
      { name: "wordy", description: "", parameters: huge },
    ],
  });
  assert.deepEqual(ack["tools_accepted"], ["ReadFolder", "count"]);
  assert.deepEqual(ack["tools_rejected"], [
    "Teleport",
    "shell",
    "constructor",
    "plan",
    "two words",
    "read_folder",
    "wordy",
  ]);
  await executor.hears("task_completed");
  const { tools = [] } = (end.model.requests.at(-1)?.body ?? {}) as {
    tools?: readonly { function: { name: string; parameters: unknown } }[];
  };
  const named = tools.map((tool) => tool.function.name);
  assert.ok(named.includes("read_folder") && named.includes("count") && !named.includes("shell"));
  assert.deepEqual(tools.find((tool) => tool.function.name === "count")?.function.parameters, TOOL.parameters);
});

const BAD: readonly (readonly [string, JsonObject | string])[] = [
  ["no JSON", "{"],
  ["a handshake without tools", { type: "handshake", payload: { client_type: "cli" } }],
  [
    "a wish to resume that cannot be read",
    { type: "handshake", payload: { client_type: "c", known_tools: [], resume: 1 } },
  ],
  ["another message first", { type: "user_input", payload: { input_request_id: "q1", response: "yes" } }],
  ["a prompt that is empty", { type: "handshake", payload: { client_type: "c", known_tools: [], initial_prompt: "" } }],
  [
    "a session that is not there",
    { type: "handshake", payload: { client_type: "c", known_tools: [], resume: { session_id: "thread_no" } } },
  ],
];

for (const [what, message] of BAD) {
  test(`004-06 ${what} gets an error with its code, and is hung up on`, async (t) => {
    const end = await startExecutorGateway(t, {});
    const { token } = await end.tokens.create({ owner: "ana" });
    await using executor = await ForeignExecutor.dial({ url: end.url, token });
    executor.socket.send(typeof message === "string" ? message : JSON.stringify(message));
    const { payload } = await executor.hears("error");
    assert.match(textOrEmpty(payload, "code"), what.includes("session") ? /^NOT_FOUND$/ : /^BAD_REQUEST$/);
    assert.notEqual(payload["message"], "");
    assert.equal(await executor.gone, 1008);
  });
}

test("004-05 the handshake is kept for an hour under its session", async (t) => {
  let now = Date.now();
  const end = await startExecutorGateway(t, { now: () => now });
  const { token } = await end.tokens.create({ owner: "ana" });
  const { token: other } = await end.tokens.create({ owner: "bea" });
  await using first = await ForeignExecutor.dial({ url: end.url, token });
  const ack = await first.shake({ client_version: "7" });
  assert.equal(ack["task_id"], null);
  const session = textOrEmpty(ack, "session_id");
  const kept = await end.brain.records.get("handshake", session);
  assert.equal(kept?.owner, "ana");
  assert.equal(kept.body["client_version"], "7");
  first.cut();
  await using back = await ForeignExecutor.dial({ url: end.url, token });
  assert.equal((await back.shake({ resume: { session_id: session } }))["session_id"], session);
  await using foreign = await ForeignExecutor.dial({ url: end.url, token: other });
  assert.equal((await foreign.shake({ resume: { session_id: session } }))["code"], "NOT_FOUND");
  back.cut();
  now = Date.now() + EXECUTOR_LIMITS.keptMs;
  await using late = await ForeignExecutor.dial({ url: end.url, token });
  assert.equal((await late.shake({ resume: { session_id: session } }))["code"], "NOT_FOUND");
  await using other2 = await ForeignExecutor.dial({ url: end.url, token });
  await other2.shake({});
  assert.equal(await end.brain.records.get("handshake", session), undefined);
});

test("004-03 a handshake with unknown fields, and with nulls for what it does not say, is taken", async (t) => {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  await using executor = await ForeignExecutor.dial({ url: end.url, token });
  const unsaid = { initial_prompt: null, custom_tools: null, resume: null, project_spec: null, client_version: null };
  const ack = await executor.shake({ ...unsaid, platform: { os: "linux" }, editor: "vim" });
  assert.equal(ack["code"], undefined, JSON.stringify(ack));
  assert.equal(ack["task_id"], null);
});

test("a task goes on from a run of its owner that is over: an open one is a conflict, and another's is not found", async (t) => {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  const { token: other } = await end.tokens.create({ owner: "bea" });
  await using first = await ForeignExecutor.dial({ url: end.url, token });
  const { run_id: run } = await first.shake({ initial_prompt: "look" });
  for (const [who, code] of [
    [token, "CONFLICT"],
    [other, "NOT_FOUND"],
  ] as const) {
    await using next = await ForeignExecutor.dial({ url: end.url, token: who });
    assert.equal((await next.shake({ initial_prompt: "and then?", continues_run: run ?? "" }))["code"], code);
  }
});

test("an upgrade needs a token with the scope runs, the right host and no foreign page", async (t) => {
  const end = await startExecutorGateway(t, {});
  const { token: weak } = await end.tokens.create({ owner: "ana", scopes: ["ps"] });
  await assert.rejects(ForeignExecutor.dial({ url: end.url, token: "no" }), { message: "401" });
  await assert.rejects(ForeignExecutor.dial({ url: end.url, token: weak }), { message: "403" });
  const { token } = await end.tokens.create({ owner: "ana" });
  await assert.rejects(ForeignExecutor.dial({ url: end.url, token, path: "/elsewhere" }), { message: "404" });
  for (const [name, value, status] of [
    ["origin", "https://evil.example", 403],
    ["host", "evil.example", 421],
  ] as const) {
    const { WebSocket } = await import("ws");
    const socket = new WebSocket(`${end.url.replace("http", "ws")}/executor`, {
      headers: { authorization: `Bearer ${token}`, [name]: value },
    });
    const answered = new Promise<number | undefined>((resolve) => {
      socket.on("error", () => undefined);
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
    });
    assert.equal(await answered, status);
    socket.terminate();
  }
});

test("a token that is revoked or expires takes its executor with it within a second", async (t) => {
  const end = await startExecutorGateway(t, {});
  const expiresAt = Date.now() + 1500;
  const [mine, brief] = [
    await end.tokens.create({ owner: "ana" }),
    await end.tokens.create({ owner: "ana", expiresAt }),
  ];
  await using revoked = await ForeignExecutor.dial({ url: end.url, token: mine.token });
  await using expiring = await ForeignExecutor.dial({ url: end.url, token: brief.token });
  await revoked.shake({});
  await expiring.shake({});
  const from = performance.now();
  await end.tokens.revoke(mine.tokenId);
  assert.equal((await revoked.hears("error")).payload["code"], "INVALID_TOKEN");
  await revoked.gone;
  assert.ok(performance.now() - from < 1000);
  assert.equal((await expiring.hears("error")).payload["code"], "TOKEN_EXPIRED");
  await expiring.gone;
  assert.ok(Date.now() - expiresAt < 1000);
});

test("an executor that says nothing is hung up on", async (t) => {
  const end = await startExecutorGateway(t, { bounds: { handshakeMs: 50 } });
  const { token } = await end.tokens.create({ owner: "ana" });
  await using silent = await ForeignExecutor.dial({ url: end.url, token });
  assert.equal((await silent.hears("error")).payload["code"], "CONNECTION_LOST");
  assert.equal(await silent.gone, 1008);
});

test("an executor that sends too much, or in too many parts, is hung up on", async (t) => {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  await using large = await ForeignExecutor.dial({ url: end.url, token });
  large.socket.send("x".repeat(REGISTER_LIMITS.messageBytes + 1));
  assert.equal(await large.gone, 1009);
  await using parted = await ForeignExecutor.dial({ url: end.url, token });
  for (let part = 0; part <= REGISTER_LIMITS.fragments; part += 1) parted.socket.send("x", { fin: false });
  assert.equal(await parted.gone, 1008);
});
