import assert from "node:assert/strict";
import { test } from "node:test";
import { checkServer, CLAUSES } from "@vidro/aon";
import type { CheckOptions } from "@vidro/aon";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "@vidro/brain/config";
import { startAgentServer, linesOf } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { fakeOpenAi, status, text } from "../support/fake-openai.ts";
import type { FakeReply } from "../support/fake-openai.ts";

/* The contract's own list of what makes a server compliant, held against our routes by the checker that we ship. */

const DOWN = status(503, "loading", { "retry-after": "0" });

type Test = { after(done: () => Promise<void> | void): void };

async function brain(t: Test, ...replies: FakeReply[]): Promise<AgentServer> {
  const fake = await fakeOpenAi(...replies);
  t.after(() => fake.close());
  return startAgentServer(
    t,
    await chooseModel(readConfig({ env: { VIDRO_MODEL: "fake", VIDRO_MODEL_URL: fake.url } })),
  );
}

/** What the checker says of each clause, and all that it has to remark. */
async function found(end: AgentServer, path: string, more: Partial<CheckOptions> = {}): Promise<unknown[]> {
  const headers = { Authorization: `Bearer ${end.own}` };
  const findings = await checkServer({ url: `${end.url}${path}`, headers, ...more });
  assert.equal(findings.length, Object.keys(CLAUSES).length);
  return findings.flatMap(({ state, notes }) => (state === "ok" ? notes : [state]));
}

test("001-01 001-04 001-26 001-27 001-28 001-30 routes that read answer as the checker asks, with nothing to remark", async (t) => {
  const end = await brain(t, text("ok"));
  for (const path of ["/v1/agents", "/v1/tools", "/v1/conversations", "/v1/models", "/v1/runs", "/agent/status"])
    assert.deepEqual(await found(end, path), ["unknown"], path);
});

test("001-26 001-27 001-28 001-29 a route whose input is mended passes all clauses", async (t) => {
  const end = await brain(t, text("ok"));
  const body = JSON.stringify({ ferramentas: "read_file" });
  assert.deepEqual(await found(end, "/v1/conversations", { method: "POST", body }), []);
});

test("001-26 001-27 001-28 001-29 a chat passes all clauses, also when its model is down for good", async (t) => {
  const asked = 9;
  const end = await brain(t, ...Array.from({ length: asked }, () => text("ok")), DOWN);
  const path = "/v1/chat/completions";
  const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }] });
  assert.deepEqual(await found(end, path, { method: "POST", body, failingUrl: `${end.url}${path}` }), []);
});

test("001-26 a route that streams takes what it streams for acceptable, and refuses the rest before it begins anything", async (t) => {
  const end = await brain(t, text("ok"));
  const session_id = await end.session();
  const generate = async (accept: string): Promise<unknown[]> => {
    const response = await end.ask("POST", "/agent/generate", {
      body: { session_id, prompt: "x" },
      headers: { accept },
    });
    await response.text();
    return [response.status, response.headers.get("content-type")?.split(";")[0]];
  };
  for (const accept of ["image/png", "text/event-stream;q=0", "text/event-stream; q=0.0, image/*"])
    assert.deepEqual(await generate(accept), [406, "application/json"], accept);
  assert.equal((await end.runs.list({ limit: 1 })).length, 0);
  for (const accept of ["text/event-stream", "text/*;q=0.5", "image/png, */*;q=0.1"])
    assert.deepEqual(await generate(accept), [200, "text/event-stream"], accept);
});

test("001-02 001-17 what the glass box gives as its result is what the black box gives as its body", async (t) => {
  const end = await brain(t, text("ok"));
  for (const path of ["/v1/agents", "/v1/tools", "/v1/models"]) {
    const black = await end.ask("GET", path, { headers: { accept: "application/json" } });
    const glass = await linesOf(await end.ask("GET", path, { headers: { accept: "application/x-ndjson" } }));
    assert.equal(JSON.stringify(glass.at(-1)?.["data"]), await black.text());
  }
});
