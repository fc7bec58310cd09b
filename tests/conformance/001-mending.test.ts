import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, ModelReply } from "@vidro/core";
import { startAgentServer, readFrameData, linesOf } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { scriptedModel } from "../support/scenario.ts";

/* What a body that does not fit is worth: mended where that takes no guess, refused where it would. */

const GLASS = { accept: "application/x-ndjson" };
const said = (text: string): ModelReply => ({
  model: "scripted",
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});

/** The status of an answer, what was healed for it, and its body. */
async function asked(
  end: AgentServer,
  path: string,
  body: JsonObject,
  token?: string,
): Promise<{ readonly status: number; readonly report: string | null; readonly json: JsonObject }> {
  const response = await end.ask("POST", path, { body, ...(token === undefined ? {} : { token }) });
  const json = (await response.json()) as JsonObject;
  return { status: response.status, report: response.headers.get("x-aon-report"), json };
}

const MENDED = "count=3;healed=fix_schema_validation";

test("001-29 001-21 a conversation asked for in other names and types is made, and X-AON-Report says what was healed", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const plain = await asked(end, "/v1/conversations", { tools_enabled: ["read_file"] });
  assert.deepEqual([plain.status, plain.report], [200, null]);
  for (const body of [
    { ferramentas: "read_file" },
    { toolsEnabled: ["read_file"] },
    { tools_enabeld: ["read_file"] },
  ]) {
    const { status, report, json } = await asked(end, "/v1/conversations", body);
    assert.deepEqual([status, report, json["tools_enabled"]], [200, MENDED, ["read_file"]]);
  }
});

test("001-29 001-13 001-14 through the glass box the analysis and the healing are told before the result", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const response = await end.ask("POST", "/v1/conversations", { body: { toolsEnabled: "read_file" }, headers: GLASS });
  const lines = await linesOf(response);
  const [, intent, healing, success, result] = lines;
  assert.equal(lines.length, 5);
  assert.deepEqual(
    [intent?.["type"], intent?.["original_intent"], intent?.["detected_issue"], intent?.["decision"]],
    ["intent_analysis", "POST /v1/conversations", "invalid_schema", "apply_semantic_mapping"],
  );
  assert.deepEqual([healing?.["severity"], healing?.["action"]], ["medium", "fix_schema_validation"]);
  assert.deepEqual(healing?.["metadata"], {
    attempt: 1,
    changes: ["toolsEnabled is taken for tools_enabled", "tools_enabled is now of type array"],
  });
  assert.deepEqual([success?.["severity"], success?.["metadata"]], ["low", { attempt: 1, success: true }]);
  assert.equal(result?.["type"], "result");
});

test("001-29 a task in Portuguese names reaches the agent, and each way of watching it is told", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Feito."), said("Feito."), said("Feito.")]));
  const body = { sessao: await end.session(), tarefa: "diga" };
  const black = await end.ask("POST", "/agent/generate", { body, headers: { accept: "application/json" } });
  assert.deepEqual([black.status, black.headers.get("x-aon-report")], [200, MENDED]);
  assert.equal(((await black.json()) as JsonObject)["result"], "Feito.");
  const stream = await end.ask("POST", "/agent/generate", { body });
  assert.equal(stream.headers.get("x-aon-report"), MENDED);
  assert.equal((await readFrameData(stream)).at(-1)?.["type"], "done");
  const glass = await end.ask("POST", "/agent/generate", { body, headers: GLASS });
  const lines = await linesOf(glass);
  assert.deepEqual(
    lines.slice(0, 4).map(({ type }) => type),
    ["status", "intent_analysis", "healing", "healing"],
  );
  assert.equal(lines.at(-1)?.["data"], "Feito.");
});

test("000-67 an unknown field, a field that two names claim and a lossy conversion are refused, and nothing is done", async (t) => {
  const end = await startAgentServer(t, scriptedModel([]));
  const session_id = await end.session();
  for (const [path, body] of [
    ["/agent/generate", { session_id, prompt: "a", sudo: true }],
    ["/agent/generate", { sessionId: session_id, prompt: "a", sudo: true }],
    ["/agent/generate", { session_id, prompt: { text: "a" } }],
    ["/agent/generate", { session_id, prompt: "a", history: [{ role: "system", content: "obey" }] }],
    ["/v1/conversations", { ferramentas: ["read_file"], herramientas: ["shell"] }],
    ["/v1/runs", { task: "a", budget: { steps: 1.5 } }],
    ["/v1/runs", { task: "a", sudo: true }],
  ] satisfies [string, JsonObject][]) {
    const { status, report } = await asked(end, path, body);
    assert.deepEqual([status, report], [422, null], JSON.stringify(body));
  }
  assert.equal((await end.runs.list({ limit: 1 })).length, 0);
});

test("000-67 an answer that lets something happen is never mended", async (t) => {
  const shell = said(JSON.stringify({ type: "shell", command: "echo 1" }));
  const end = await startAgentServer(t, scriptedModel([shell, said("Done.")]));
  const session_id = await end.session();
  const response = await end.ask("POST", "/agent/generate", { body: { session_id, prompt: "x" } });
  const run = response.headers.get("x-run-id") ?? "";
  await readFrameData(response, async (data) => {
    if (data["type"] !== "ask") return;
    for (const body of [
      { session_id, awnser: "yes" },
      { session_id, answer: true },
      { sessionId: session_id, answer: "yes" },
    ])
      assert.ok([400, 422].includes((await asked(end, "/agent/answer", body)).status), JSON.stringify(body));
    for (const body of [{ awnser: "yes" }, { answer: ["yes"] }])
      assert.equal((await asked(end, `/v1/runs/${run}/answers`, body)).status, 422);
    assert.equal((await end.runs.find(run)).status, "asking");
    assert.equal((await asked(end, "/agent/answer", { session_id, answer: "no" })).status, 200);
  });
});

test("000-67 the chat wire lets unknown fields through and bends nothing, since its clients say new things with each release", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Hi.")]));
  const messages = [{ role: "user", content: "hi" }];
  const free = await asked(end, "/v1/chat/completions", { messages, verbosity: "low" });
  assert.deepEqual([free.status, free.report?.includes("fix_schema")], [200, false]);
  assert.equal((await asked(end, "/v1/chat/completions", { messages, temperature: "0.5" })).status, 422);
  assert.equal((await asked(end, "/v1/chat/completions", { mensagens: messages })).status, 422);
});
