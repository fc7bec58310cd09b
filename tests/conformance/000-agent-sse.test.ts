import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hand, JsonObject, Model, ModelReply } from "@vidro/core";
import { startAgentServer, curl, readFrameData, readFrames, linesOf } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { scriptedModel } from "../support/scenario.ts";

/* Rows 000-24 to 000-39: the agent's event stream, as a stranger's client sees it. */

const said = (text: string): ModelReply => ({
  model: "scripted",
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const line = (value: JsonObject): string => JSON.stringify(value);
const SHELL = said(`I look.\n${line({ type: "shell", command: "echo out; echo err >&2" })}`);

function generate(end: AgentServer, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  return end.ask("POST", "/agent/generate", { body, headers });
}

/** Says yes to whatever is asked. */
function yesTo(end: AgentServer, session: string) {
  return (data: JsonObject): Promise<unknown> | undefined =>
    data["type"] === "ask"
      ? end.ask("POST", "/agent/answer", { body: { session_id: session, answer: "yes" } })
      : undefined;
}

/** A model that waits before it streams: words without a follower are only in its reply. */
function after(time: Promise<void>, model: Model): Model {
  return {
    name: model.name,
    async *call(request, signal) {
      await time;
      yield* model.call(request, signal);
    },
  };
}

const typesOf = (all: readonly JsonObject[]): unknown[] => all.map(({ type }) => type);

test("000-24 the stream is text/event-stream over HTTP/1.1: bare data frames of one line, with the cursor as id", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Hello."), said("Hello.")]));
  const session = await end.session();
  const response = await generate(end, { session_id: session, prompt: "greet" });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  const run = response.headers.get("x-run-id") ?? "";
  await response.text();
  const auth = `authorization: Bearer ${end.own}`;
  const printed = await curl("-i", "-H", auth, `${end.url}/agent/runs/${run}/events`);
  assert.match(printed, /^HTTP\/1\.1 200 OK\r\n/);
  const body = printed.slice(printed.indexOf("\r\n\r\n") + 4);
  const done = `{"type":"done","result":"Hello.","run_id":"${run}","seq":4}`;
  assert.equal(body, `retry: 1000\n\nid: 4\ndata: ${done}\n\n`);
});

test("000-25 POST /agent/sessions answers with ok and a session_id", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const begun = await end.ask("POST", "/agent/sessions", { body: { params: { temperature: 0.2 }, hand: "local" } });
  const json = (await begun.json()) as JsonObject;
  assert.equal(begun.status, 200);
  assert.deepEqual([json["ok"], typeof json["session_id"]], [true, "string"]);
  const elsewhere = await end.ask("POST", "/agent/sessions", { body: { hand: "mars" } });
  assert.deepEqual([elsewhere.status, ((await elsewhere.json()) as JsonObject)["code"]], [404, "NOT_FOUND"]);
});

test("000-26 generate takes prompt or objective and a history, and errors before the stream are plain HTTP", async (t) => {
  const model = scriptedModel([said("One."), said("Two.")]);
  const end = await startAgentServer(t, model);
  const session = await end.session();
  assert.equal(
    (await readFrameData(await generate(end, { session_id: session, prompt: "a" }))).at(-1)?.["result"],
    "One.",
  );
  const history = [
    { role: "user", content: "before" },
    { role: "assistant", content: "I know." },
  ];
  const second = await readFrameData(await generate(end, { session_id: session, objective: "b", history }));
  assert.equal(second.at(-1)?.["type"], "done");
  assert.deepEqual(
    model.requests.at(-1)?.turns.map((turn) => turn.text),
    ["before", "I know.", "b"],
  );
  for (const [body, status, code] of [
    [{ session_id: session }, 400, "BAD_REQUEST"],
    [{ prompt: "a" }, 400, "BAD_REQUEST"],
    [{ session_id: "none", prompt: "a" }, 404, "NOT_FOUND"],
    [{ session_id: session, prompt: "a", sudo: true }, 422, "BAD_ARGUMENTS"],
  ] as const) {
    const refused = await generate(end, body);
    const json = (await refused.json()) as JsonObject;
    assert.deepEqual([refused.status, json["ok"], json["code"], typeof json["error"]], [status, false, code, "string"]);
  }
});

test("000-26 a retry under the same Idempotency-Key attaches to the first run", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Once.")]));
  const body = { session_id: await end.session(), prompt: "a" };
  const [one, two] = await Promise.all([
    generate(end, body, { "idempotency-key": "k" }),
    generate(end, body, { "idempotency-key": "k" }),
  ]);
  assert.equal(one.headers.get("x-run-id"), two.headers.get("x-run-id"));
  const whole = (all: readonly JsonObject[]): unknown[] => all.filter(({ seq }) => seq !== undefined);
  assert.deepEqual(whole(await readFrameData(one)), whole(await readFrameData(two)));
  assert.equal((await end.runs.list({ limit: 10 })).length, 1);
});

test("000-27 POST /agent/abort stops the session, and without session_id it is a 400", async (t) => {
  const end = await startAgentServer(t, scriptedModel([SHELL]));
  const session = await end.session();
  const all = await readFrameData(await generate(end, { session_id: session, prompt: "a" }), async (data) => {
    if (data["type"] !== "ask") return;
    const aborted = await end.ask("POST", "/agent/abort", { body: { session_id: session } });
    assert.deepEqual(await aborted.json(), { ok: true });
  });
  assert.deepEqual([all.at(-1)?.["type"], all.at(-1)?.["code"]], ["error", "ABORTED"]);
  const refused = await end.ask("POST", "/agent/abort", { body: {} });
  assert.deepEqual([refused.status, ((await refused.json()) as JsonObject)["ok"]], [400, false]);
  const foreign = await end.ask("POST", "/agent/abort", {
    body: { session_id: session },
    token: await end.token("bo"),
  });
  assert.equal(foreign.status, 404);
});

test("000-28 GET /agent/status says what there is", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const json = (await (await end.ask("GET", "/agent/status")).json()) as { timestamp: string };
  const { timestamp, ...rest } = json;
  assert.deepEqual(rest, { ok: true, agent_system: "running", gemma_worker: "unavailable", hands: 1, runs: 0 });
  assert.equal(new Date(timestamp).toISOString(), timestamp);
});

test("000-29 000-30 000-33 000-35 000-36 000-39 a shell step reads action, exec_log, observe, and the run ends in done", async (t) => {
  const followed = Promise.withResolvers<void>();
  const end = await startAgentServer(t, after(followed.promise, scriptedModel([SHELL, said("Both were heard.")])));
  const session = await end.session();
  const response = await generate(end, { session_id: session, prompt: "listen" });
  followed.resolve();
  const run = response.headers.get("x-run-id");
  const all = await readFrameData(response, yesTo(end, session));
  assert.ok(all.every((data) => data["run_id"] === run));
  const textOf = (from: readonly JsonObject[], field: string): string =>
    from.map((data) => data[field] as string).join("");
  const tokens = all.filter(({ type }) => type === "token");
  assert.match(textOf(tokens, "text"), /^I look\./);
  const from = all.findIndex(({ type }) => type === "action");
  const { action_id: id, ...action } = all[from] ?? {};
  assert.deepEqual(action, {
    type: "action",
    action: "shell",
    command: "echo out; echo err >&2",
    run_id: run,
    seq: action["seq"],
  });
  const rest = all.slice(from + 1).filter(({ type }) => type !== "token");
  const logs = rest.filter(({ type }) => type === "exec_log");
  assert.deepEqual(typesOf(rest), [...logs.map(() => "exec_log"), "observe", "done"]);
  const heard = (name: string): string =>
    textOf(
      logs.filter(({ stream }) => stream === name),
      "chunk",
    );
  assert.deepEqual([heard("stdout"), heard("stderr")], ["out\n", "err\n"]);
  assert.ok(logs.every((log) => log["action_id"] === id && log["seq"] === undefined));
  const [observed, done] = rest.slice(-2);
  assert.deepEqual([observed?.["note"], observed?.["exit_code"]], ["out\n\n[stderr]\nerr\n", 0]);
  assert.equal(done?.["result"], "Both were heard.");
});

test("000-31 000-32 a plan is told, and a question is asked, answered and acted on", async (t) => {
  const plan = line({ type: "plan", steps: ["ask", "tell"] });
  const ask = line({ type: "ask", question: "Which one?", options: ["red", "blue"] });
  const model = scriptedModel([said(`${plan}\n${ask}`), said("Blue it is.")]);
  const end = await startAgentServer(t, model);
  const session = await end.session();
  const all = await readFrameData(await generate(end, { session_id: session, prompt: "choose" }), async (data) => {
    if (data["type"] !== "ask") return;
    assert.deepEqual([data["question"], data["options"]], ["Which one?", ["red", "blue"]]);
    const wrong = { session_id: session, question_id: "q0", answer: "red" };
    assert.equal((await end.ask("POST", "/agent/answer", { body: wrong })).status, 409);
    const right = { session_id: session, question_id: data["question_id"] ?? "", answer: "blue" };
    assert.deepEqual(await (await end.ask("POST", "/agent/answer", { body: right })).json(), { ok: true });
  });
  assert.deepEqual(all.find(({ type }) => type === "plan")?.["steps"], ["ask", "tell"]);
  assert.equal(model.requests.at(-1)?.turns.at(-1)?.text, "blue");
  assert.equal(all.at(-1)?.["type"], "done");
});

test("000-30 000-34 research shows its queries and then its documents", async (t) => {
  const docs = [{ title: "Glass", url: "https://example.org/glass", snippet: "It is clear." }];
  const searching = (real: Hand): Hand => ({
    ...INSTANT,
    id: real.id,
    workspace: real.workspace,
    async *perform() {
      yield { type: "finished", outcome: { kind: "value", text: "1 document", data: { docs } } };
    },
  });
  const queries = ["what is glass"];
  const model = scriptedModel([said(line({ type: "research", queries, maxDocs: 3 })), said("It is clear.")]);
  const end = await startAgentServer(t, model, { change: searching });
  const all = await readFrameData(await generate(end, { session_id: await end.session(), prompt: "glass?" }));
  const action = all.find(({ type }) => type === "action");
  assert.deepEqual([action?.["action"], action?.["queries"]], ["research", queries]);
  const at = all.findIndex(({ type }) => type === "research_result");
  assert.deepEqual(all[at]?.["docs"], docs);
  assert.deepEqual([all[at + 1]?.["type"], all[at + 1]?.["note"]], ["observe", "1 document"]);
});

/** A hand that allows everything; what it does is up to the test. */
const INSTANT: Omit<Hand, "id" | "workspace" | "perform"> = {
  tools: [{ name: "research", description: "Searches.", parameters: { type: "object" }, idempotent: true }],
  judge: async () => ({
    plan: { kind: "facts", facts: "web" },
    hash: "0",
    policy: "0",
    verdict: { decision: "allow", rule: "research", class: "network", reason: "It may." },
  }),
  acknowledge: async () => undefined,
  close: async () => undefined,
};

test("000-37 a run that fails ends in one error with its message and code", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const all = await readFrameData(await generate(end, { session_id: await end.session(), prompt: "x" }));
  const ends = all.filter(({ type }) => type === "done" || type === "error");
  assert.equal(ends.length, 1);
  assert.equal(ends[0], all.at(-1));
  assert.deepEqual([ends[0]?.["code"], ends[0]?.["message"]], ["MODEL_REFUSED", "The script is over."]);
});

test("000-38 of two effects in one answer only the first is carried out", async (t) => {
  const two = [line({ type: "shell", command: "echo 1" }), line({ type: "shell", command: "echo 2" })].join("\n");
  const model = scriptedModel([said(two), said("Done.")]);
  const end = await startAgentServer(t, model);
  const session = await end.session();
  const all = await readFrameData(await generate(end, { session_id: session, prompt: "x" }), yesTo(end, session));
  assert.deepEqual(
    all.flatMap((data) => (data["type"] === "action" ? [data["command"]] : [])),
    ["echo 1"],
  );
  assert.match(model.requests.at(-1)?.turns.at(-1)?.text ?? "", /Not run: shell .*echo 2/);
});

test("000-66 every body may come inside the envelope of id, method, params and timestamp", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Hi.")]));
  const wrap = (method: string, params: JsonObject): JsonObject => ({
    id: "1",
    method,
    params,
    timestamp: "2026-01-01T00:00:00Z",
  });
  const begun = (await (
    await end.ask("POST", "/agent/sessions", { body: wrap("create_session", {}) })
  ).json()) as JsonObject;
  const session = begun["session_id"] ?? "";
  const all = await readFrameData(await generate(end, wrap("generate", { session_id: session, prompt: "x" })));
  assert.equal(all.at(-1)?.["result"], "Hi.");
  const strange = await end.ask("POST", "/agent/abort", {
    body: { ...wrap("abort", { session_id: session }), extra: 1 },
  });
  assert.equal(strange.status, 422);
});

test("000-26 with Accept: application/json the same run is a black box: its result, or its fault", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Plain.")]));
  const session = await end.session();
  const response = await generate(end, { session_id: session, prompt: "x" }, { accept: "application/json" });
  const { run_id: run, ...rest } = (await response.json()) as JsonObject;
  assert.deepEqual(rest, { ok: true, result: "Plain." });
  assert.equal((await end.runs.find(run as string)).status, "finished");
  const history = [{ role: "assistant", content: "The script is over then." }];
  const failing = { session_id: session, prompt: "x", history };
  const failed = await generate(end, failing, { accept: "application/json" });
  assert.deepEqual([failed.status, ((await failed.json()) as JsonObject)["code"]], [424, "MODEL_REFUSED"]);
});

test("000-26 with Accept: application/x-ndjson the same run is a glass box", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Clear.")]));
  const session = await end.session();
  const response = await generate(end, { session_id: session, prompt: "x" }, { accept: "application/x-ndjson" });
  assert.equal(response.headers.get("content-type"), "application/x-ndjson");
  assert.equal(response.headers.get("connection"), "close");
  const lines = await linesOf(response);
  assert.equal(lines[0]?.["type"], "status");
  assert.deepEqual([lines.at(-1)?.["type"], lines.at(-1)?.["data"]], ["result", "Clear."]);
  assert.equal(lines.filter(({ type }) => type === "result" || type === "error").length, 1);
  for await (const { id } of readFrames(await end.ask("GET", `/agent/runs/${response.headers.get("x-run-id")}/events`)))
    assert.equal(Number(id), lines.at(-1)?.["seq"]);
});
