import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, ModelReply, RunHead, RunStarted } from "@vidro/core";
import { startAgentServer, readFrameData, linesOf } from "../../../../tests/support/agent-server.ts";
import type { AgentServer } from "../../../../tests/support/agent-server.ts";
import { scriptedModel } from "../../../../tests/support/scenario.ts";

const said = (text: string): ModelReply => ({
  model: "scripted",
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const ASK = said(JSON.stringify({ type: "ask", question: "Go on?", options: ["yes", "no"] }));

async function start(end: AgentServer, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  return end.ask("POST", "/v1/runs", { body, headers });
}

const headOf = async (response: Response): Promise<RunHead> => (await response.json()) as RunHead;

/** Follows the journal of a run until it asks. */
async function untilAsked(end: AgentServer, run: string): Promise<void> {
  const cut = new AbortController();
  const watched = await end.ask("GET", `/v1/runs/${run}/events`, { signal: cut.signal });
  await readFrameData(watched, ({ event }) => {
    if ((event as JsonObject | undefined)?.["type"] === "question.asked") cut.abort();
    return undefined;
  }).catch((thrown: Error) => assert.equal(thrown.name, "AbortError"));
}

test("a run is started with 201, found again under its key with the same head, and stands where it stands", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Done.")]));
  const made = await start(end, { task: "x" }, { "idempotency-key": "k" });
  const head = await headOf(made);
  assert.deepEqual([made.status, made.headers.get("location")], [201, `/v1/runs/${head.id}`]);
  assert.equal((await headOf(await start(end, { task: "x" }, { "idempotency-key": "k" }))).id, head.id);
  assert.equal((await start(end, { task: "y" }, { "idempotency-key": "k" })).status, 409);
  await readFrameData(await end.ask("GET", `/v1/runs/${head.id}/events`));
  const now = await headOf(await end.ask("GET", `/v1/runs/${head.id}`));
  assert.deepEqual([now.status, now.owner, now.task, now.seq], ["finished", "ana", "x", 4]);
});

test("a list with facts tells agent, model and hand of each run, and one without does not", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Done.")]));
  const { id } = await headOf(await start(end, { task: "one" }));
  const listed = async (path: string): Promise<JsonObject> => {
    const { runs } = (await (await end.ask("GET", path)).json()) as { runs: JsonObject[] };
    return runs.find((run) => run["id"] === id) ?? {};
  };
  for (let again = 0; again < 2; again += 1) {
    const { agent, model, hand } = await listed("/v1/runs?facts=true");
    assert.deepEqual([agent, model, hand], ["bunny", "scripted", "local"]);
  }
  assert.equal((await listed("/v1/runs"))["agent"], undefined);
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("a fork with another task begins where its run began, with the files of the run and what was said before it", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("First."), said("Second."), said("Third.")]));
  const startedOf = async ({ id }: RunHead): Promise<RunStarted> => {
    const [first] = await readFrameData(await end.ask("GET", `/v1/runs/${id}/events`));
    return first?.["event"] as unknown as RunStarted;
  };
  const one = await headOf(await start(end, { task: "one" }));
  await startedOf(one);
  const files = [{ mediaType: "image/png", data: PIXEL, name: "screen.png" }];
  const two = await headOf(await start(end, { task: "two", thread: one.thread, files }));
  const before = await startedOf(two);
  const fork = (body: JsonObject): Promise<Response> => end.ask("POST", `/v1/runs/${two.id}/fork`, { body });
  const made = await headOf(await fork({ task: "two, in short" }));
  const { task, history, forked, files: kept } = await startedOf(made);
  assert.deepEqual([task, made.task, forked], ["two, in short", "two, in short", { run: two.id, seq: 1, turns: [] }]);
  assert.deepEqual([history, kept], [before.history, files]);
  assert.ok(history.some(({ text }) => text === "one") && made.thread !== one.thread);
  const { runs } = (await (await end.ask("GET", "/v1/runs?facts=true")).json()) as { runs: JsonObject[] };
  assert.deepEqual(
    runs.map(({ forked: from }) => from),
    [{ run: two.id, seq: 1 }, undefined, undefined],
  );
  assert.equal((await fork({ task: "x", at: 2 })).status, 400);
});

test("runs are listed newest first, by thread and by whether they are open", async (t) => {
  const end = await startAgentServer(t, scriptedModel([ASK, said("Done.")]));
  const first = await headOf(await start(end, { task: "one" }));
  const second = await headOf(await start(end, { task: "two", thread: first.thread }));
  for (const { id } of [first, second]) await untilAsked(end, id);
  await end.ask("POST", `/v1/runs/${first.id}/answers`, { body: { answer: "yes" } });
  await readFrameData(await end.ask("GET", `/v1/runs/${first.id}/events`));
  const listed = async (query: string): Promise<string[]> => {
    const { runs } = (await (await end.ask("GET", `/v1/runs${query}`)).json()) as { runs: RunHead[] };
    return runs.map(({ task }) => task);
  };
  assert.deepEqual(await listed(""), ["two", "one"]);
  assert.deepEqual(await listed("?limit=1"), ["two"]);
  assert.deepEqual(await listed("?open=true"), ["two"]);
  assert.deepEqual(await listed(`?thread=${first.thread}`), ["two", "one"]);
  assert.equal((await end.ask("GET", "/v1/runs?limit=0")).status, 422);
});

test("a run takes an agent, tools and a budget, and refuses those that there are not", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Done.")]));
  const made = await headOf(await start(end, { task: "x", agent: "bunny", tools: ["shell"], budget: { steps: 3 } }));
  const [first] = await readFrameData(await end.ask("GET", `/v1/runs/${made.id}/events?live=false`));
  const event = first?.["event"] as { tools: { name: string }[]; budget: { steps: number }; agent: string };
  assert.deepEqual([event.tools.map(({ name }) => name), event.budget.steps, event.agent], [["shell"], 3, "bunny"]);
  for (const [body, status, word] of [
    [{ task: "x", tools: ["wand"] }, 422, /wand/],
    [{ task: "x", agent: "nobody" }, 404, /nobody/],
    [{ task: "x", budget: { steps: 1_000_000 } }, 422, /steps/],
    [{ task: "x", thread: "thread_none" }, 404, /thread_none/],
    [{ task: "" }, 422, /task/],
  ] as const) {
    const refused = await start(end, body);
    const { ok, error } = (await refused.json()) as { ok: boolean; error: string };
    assert.deepEqual([refused.status, ok], [status, false]);
    assert.match(error, word);
  }
});

test("a run is answered and aborted, and both say where it stands then", async (t) => {
  const end = await startAgentServer(t, scriptedModel([ASK, ASK]));
  const { id } = await headOf(await start(end, { task: "x" }));
  await untilAsked(end, id);
  const wrong = await end.ask("POST", `/v1/runs/${id}/answers`, { body: { answer: "yes", question: "q99" } });
  assert.equal(wrong.status, 409);
  const right = await end.ask("POST", `/v1/runs/${id}/answers`, { body: { answer: "yes" } });
  assert.equal((await headOf(right)).id, id);
  const stopped = await end.ask("POST", `/v1/runs/${id}/abort`, { body: { reason: "enough" } });
  assert.equal((await headOf(stopped)).status, "aborted");
  assert.equal((await end.ask("POST", `/v1/runs/${id}/abort`, { body: {} })).status, 409);
  const last = (await readFrameData(await end.ask("GET", `/v1/runs/${id}/events`))).at(-1)?.["event"];
  assert.deepEqual(last, { type: "run.aborted", reason: "enough" });
});

test("a cursor that is no number is refused, in the query and in the header", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Done.")]));
  const { id } = await headOf(await start(end, { task: "x" }));
  assert.equal((await end.ask("GET", `/v1/runs/${id}/events?after=two`)).status, 422);
  const refused = await end.ask("GET", `/v1/runs/${id}/events`, { headers: { "last-event-id": "two" } });
  assert.deepEqual([refused.status, ((await refused.json()) as JsonObject)["code"]], [400, "BAD_REQUEST"]);
});

test("001-05 as NDJSON every line of the journal is an AON event, the last one is the only result or error, and the entries are whole", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Done.")]));
  const { id } = await headOf(await start(end, { task: "x" }));
  const sse = await readFrameData(await end.ask("GET", `/v1/runs/${id}/events?live=false`));
  const headers = { accept: "application/x-ndjson" };
  const lines = await linesOf(await end.ask("GET", `/v1/runs/${id}/events`, { headers }));
  const known: unknown[] = ["status", "intent_analysis", "healing", "result", "error"];
  for (const line of lines) {
    assert.ok(known.includes(line["type"] ?? ""), JSON.stringify(line));
    assert.equal(typeof line["timestamp"], "number");
  }
  const ends = lines.filter(({ type }) => type === "result" || type === "error");
  assert.deepEqual([ends.length, ends[0], lines.at(-1)?.["data"]], [1, lines.at(-1), "Done."]);
  const entries = lines.flatMap(({ seq, at, event }) => (seq === undefined ? [] : [{ seq, at, event }]));
  assert.deepEqual(entries, sse);
});

test("live=false leaves out what is only live, and the header wins over the query", async (t) => {
  const end = await startAgentServer(t, scriptedModel([said("Done.")]));
  const { id } = await headOf(await start(end, { task: "x" }));
  const headers = { accept: "application/x-ndjson", "last-event-id": "2" };
  const lines = await linesOf(await end.ask("GET", `/v1/runs/${id}/events?live=false&after=0`, { headers }));
  assert.deepEqual(
    lines.map(({ seq }) => seq),
    [3, 4],
  );
});
