import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, ModelReply } from "@vidro/core";
import { ENROL_PATH, RENEW_PATH } from "@vidro/core/wire/enrolment";
import { MESSAGES_PATH, POLL_PATH } from "@vidro/core/wire/agent-http";
import { readAgents, SHIPPED_AGENTS } from "../../packages/brain/src/catalog/agent-files.ts";
import { serveDaemon } from "../../packages/brain/src/daemon.ts";
import { readConfig } from "@vidro/brain/config";
import { SURFACES } from "../../packages/brain/src/north/surfaces.ts";
import { startAgentServer, readFrameData } from "../support/agent-server.ts";
import { schemaCheckingFetch } from "../support/schema-checking-fetch.ts";
import { scriptedModel } from "../support/scenario.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { storeSettings } from "../support/store-settings.ts";

/* Rows 000-62 to 000-67: what the daemon's channels take, and what is said about them. */

const said = (text: string): ModelReply => ({
  model: "scripted",
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});

// Routes are made before anybody calls them: nothing of the world is touched for that.
const [first, ...others] = SURFACES.map((surface) => surface({} as Parameters<typeof surface>[0]));
const ALL = [first!, ...others] as const;

test("000-62 every handler of the agent's wire answers as its schema promises", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Hi.")]));
  const fetch = schemaCheckingFetch(ALL);
  const headers = {
    authorization: `Bearer ${end.own}`,
    "content-type": "application/json",
    accept: "application/json",
  };
  const ask = async (method: string, path: string, body?: JsonObject): Promise<JsonObject> => {
    const more = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${end.url}${path}`, { method, headers, ...more });
    assert.equal(response.status, 200, path);
    return (await response.json()) as JsonObject;
  };
  const { session_id } = await ask("POST", "/agent/sessions", { params: { temperature: 1 }, hand: "local" });
  assert.equal((await ask("POST", "/agent/generate", { session_id, prompt: "x" }))["result"], "Hi.");
  assert.deepEqual((await ask("GET", `/v1/conversations/${session_id as string}`))["metadata"], {});
  await ask("POST", "/agent/abort", { session_id });
  await ask("GET", "/agent/status");
});

test("000-63 without a worker the daemon says so, the stream works, and the model in its place is told of", async (t) => {
  const folder = temporaryFolder(t);
  const daemon = await serveDaemon({
    home: join(folder, "state"),
    config: readConfig({
      env: {
        VIDRO_MODEL: "ollama/gemma,offline",
        OLLAMA_HOST: "127.0.0.1:9",
        PATH: process.env["PATH"],
        ...storeSettings(folder),
      },
    }),
    workspace: folder,
    host: "127.0.0.1",
    port: 0,
    onRestart: "resume",
    localHand: true,
    version: "0.0.0",
    writeLog: () => undefined,
  });
  t.after(() => daemon.close());
  const token = readFileSync(daemon.tokenFile, "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const ask = (path: string, body?: JsonObject): Promise<Response> =>
    fetch(`${daemon.url}${path}`, {
      headers,
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  const status = (await (await ask("/agent/status")).json()) as JsonObject;
  assert.deepEqual([status["ok"], status["gemma_worker"]], [true, "unavailable"]);
  const { session_id } = (await (await ask("/agent/sessions", {})).json()) as JsonObject;
  const stream = await ask("/agent/generate", { session_id, prompt: "which folder is this?" });
  assert.equal(stream.headers.get("content-type"), "text/event-stream");
  const all = await readFrameData(stream);
  const told = all.map((data) => JSON.stringify(data)).join("\n");
  assert.match(told, /"note":"ollama\/gemma failed .* offline answers in its place/);
  assert.equal(all.at(-1)?.["type"], "done");
  assert.match(agentsPage(), /gemma_worker: "unavailable"[^\n]*`offline`[^\n]*`switch_model`/);
});

function agentsPage(): string {
  return readFileSync(join(import.meta.dirname, "../../AGENTS.md"), "utf8");
}

test("000-64 AGENTS.md has name, function, protocol, endpoints and formats of every agent, and the endpoints exist", async () => {
  const [head = [], , ...rows] = agentsPage()
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  assert.deepEqual(head, ["name", "function", "protocol", "endpoints", "formats"]);
  const agents = await readAgents(SHIPPED_AGENTS);
  const remote = ["hands (vidro-hand)", "executors (codegen)", "TCP agents (vidro hands serve --tcp)"];
  assert.deepEqual(
    rows.map(([name = ""]) => name.replaceAll("`", "")),
    [...agents.map(({ name }) => name), ...remote],
  );
  for (const row of rows) assert.ok(row.length === head.length && row.every((cell) => cell !== ""));
  const named = rows.flatMap((row) => [...(row[3] ?? "").matchAll(/`([A-Z]+ \/[^`]+)`/g)].map(([, each]) => each));
  const south = [ENROL_PATH, RENEW_PATH, MESSAGES_PATH, POLL_PATH].map((path) => `POST ${path}`);
  const routes = [...south, ...ALL.flatMap(({ routes: each }) => each.map(({ method, path }) => `${method} ${path}`))];
  assert.deepEqual(
    named.filter((each) => !routes.includes(each ?? "")),
    [],
  );
  assert.deepEqual(
    routes.filter((route) => / \/(agent|southbound)\//.test(route) && !named.includes(route)),
    [],
  );
  const types = new Set(
    ALL.flatMap(({ routes: each }) =>
      each.flatMap(({ path, produces = [] }) => (/^\/(agent|v1)\//.test(path) ? produces : [])),
    ),
  );
  for (const type of ["application/json", ...types]) assert.ok(rows[0]?.[4]?.includes(`\`${type}\``), type);
});

test("000-65 000-66 messages with type or method, flat or in params, are taken on each route of the agent's wire", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("One."), said("Two."), said("Three.")]));
  const ask = async (path: string, body: JsonObject): Promise<JsonObject> => {
    const response = await end.ask("POST", path, { body, headers: { accept: "application/json" } });
    assert.equal(response.status, 200, JSON.stringify(body));
    return (await response.json()) as JsonObject;
  };
  const { session_id } = await ask("/agent/sessions", { type: "create_session", params: { temperature: 0.2 } });
  const fields = { session_id, prompt: "x", history: [] };
  assert.equal((await ask("/agent/generate", { type: "generate", ...fields }))["result"], "One.");
  assert.equal((await ask("/agent/generate", { method: "generate", params: fields }))["result"], "Two.");
  const stamped = { id: 1, timestamp: "2026-01-01T00:00:00Z" };
  const wrapped = { ...stamped, type: "generate", params: { sessionId: session_id, prompt: "x" } };
  assert.equal((await ask("/agent/generate", wrapped))["result"], "Three.");
  assert.deepEqual(await ask("/agent/abort", { ...stamped, method: "abort", params: { session_id } }), { ok: true });
  const stray = await end.ask("POST", "/agent/abort", { body: { method: "generate", session_id } });
  assert.deepEqual([stray.status, ((await stray.json()) as JsonObject)["code"]], [400, "BAD_REQUEST"]);
});

test("000-08 000-25 a generate as the worker's wire writes it, with stream true or false, is taken", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("One."), said("Two.")]));
  const session_id = await end.session();
  const body = { type: "generate", session_id, prompt: "x" };
  const streamed = await end.ask("POST", "/agent/generate", { body: { ...body, stream: true } });
  assert.equal(streamed.headers.get("content-type"), "text/event-stream");
  assert.match(await streamed.text(), /"type":"done","result":"One."/);
  const whole = await end.ask("POST", "/agent/generate", { body: { ...body, stream: false } });
  assert.equal(((await whole.json()) as JsonObject)["result"], "Two.");
});

test("000-27 000-67 each route of the agent's wire refuses what is missing with 400 and what is ill-typed with 422", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const session_id = await end.session();
  for (const [path, body, status] of [
    ["sessions", { params: 5 }, 422],
    ["sessions", { tools_enabled: [{}] }, 422],
    ["sessions", { tools_enabled: ["teleport"] }, 422],
    ["sessions", { agent_uuid: {} }, 422],
    ["sessions", { agent_uuid: "nobody" }, 404],
    ["sessions", { hand: ["local"] }, 422],
    ["sessions", [], 422],
    ["generate", {}, 400],
    ["generate", { prompt: "x" }, 400],
    ["generate", { session_id }, 400],
    ["generate", { session_id: {}, prompt: "x" }, 422],
    ["generate", { session_id, prompt: "" }, 422],
    ["generate", { session_id, prompt: "x", history: "before" }, 422],
    ["answer", {}, 400],
    ["answer", { answer: "yes" }, 400],
    ["answer", { session_id }, 400],
    ["answer", { session_id, answer: 1 }, 422],
    ["answer", { session_id, answer: "yes" }, 409],
    ["abort", {}, 400],
    ["abort", { session_id: [] }, 422],
    ["abort", { session_id: "none" }, 404],
  ] as const) {
    const refused = await end.ask("POST", `/agent/${path}`, { body });
    const json = (await refused.json()) as JsonObject;
    const shape = [refused.status, json["ok"], typeof json["error"], typeof json["code"]];
    assert.deepEqual(shape, [status, false, "string", "string"], `${path} ${JSON.stringify(body)}`);
  }
  assert.equal((await end.ask("GET", "/agent/runs/none/events")).status, 404);
  assert.equal((await end.runs.list({ limit: 1 })).length, 0);
});
