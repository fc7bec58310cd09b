import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, ModelReply } from "@vidro/core";
import { startAgentServer, readFrames } from "../support/agent-server.ts";
import type { AgentServer } from "../support/agent-server.ts";
import { scriptedModel } from "../support/scenario.ts";

/* An answer names its question, means what people mean, and is the same answer when it comes twice. */

const said = (words: string): ModelReply => ({
  model: "scripted",
  text: words,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const order = (command: string): ModelReply => said(JSON.stringify({ type: "shell", command }));

interface Asking {
  readonly run: string;
  readonly question: string;
}

/** Starts a run and follows it up to its question. */
async function asking(end: AgentServer, session: string, prompt: string): Promise<Asking> {
  const response = await end.ask("POST", "/agent/generate", { body: { session_id: session, prompt } });
  for await (const { data } of readFrames(response)) {
    if (data["type"] === "ask") return { run: data["run_id"] as string, question: data["question_id"] as string };
  }
  throw new Error("The run asked nothing.");
}

async function answer(end: AgentServer, body: JsonObject, token = end.own): Promise<{ status: number; text: string }> {
  const response = await end.ask("POST", "/agent/answer", { body, token });
  return { status: response.status, text: await response.text() };
}

const answersOf = async (end: AgentServer, run: string): Promise<string[]> =>
  (await end.runs.read(run, 0, 100)).flatMap(({ event }) => (event.type === "question.answered" ? [event.answer] : []));

test("with two questions open in a session a bare yes is refused, and each is answered by its own name", async (t) => {
  const end = await startAgentServer(
    t,
    scriptedModel([order("echo 1 >> f"), order("echo 2 >> f"), said("x"), said("y")]),
  );
  const session = await end.session();
  const one = await asking(end, session, "first");
  const two = await asking(end, session, "second");
  assert.notEqual(one.question, two.question, "ids are unique over all runs");
  const bare = await answer(end, { session_id: session, answer: "yes" });
  assert.equal(bare.status, 409);
  assert.ok(bare.text.includes(one.question) && bare.text.includes(two.question), bare.text);
  const first = await answer(end, { session_id: session, question_id: one.question, answer: "yes" });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(await answersOf(end, one.run), ["yes"]);
  assert.deepEqual(await answersOf(end, two.run), []);
  assert.equal((await answer(end, { session_id: session, answer: "no" })).status, 200);
  assert.deepEqual(await answersOf(end, two.run), ["no"]);
});

test("the same answer twice is the same answer, and another one is a conflict", async (t) => {
  const end = await startAgentServer(t, scriptedModel([order("echo 1 >> f"), said("Fine.")]));
  const session = await end.session();
  const { run, question } = await asking(end, session, "first");
  const by = (words: string): JsonObject => ({ session_id: session, question_id: question, answer: words });
  assert.equal((await answer(end, by("yes"))).status, 200);
  assert.equal((await answer(end, by("YES"))).status, 200);
  assert.equal((await answer(end, by("no"))).status, 409);
  const own = (words: string): Promise<Response> =>
    end.ask("POST", `/v1/runs/${run}/answers`, { body: { question, answer: words } });
  await Array.fromAsync(end.runs.follow(run));
  assert.equal((await own("yes")).status, 200);
  assert.equal((await own("no")).status, 409);
  assert.deepEqual(await answersOf(end, run), ["yes"]);
});

test("words that are neither yes nor no are asked again, and yes is yes in the words of three languages", async (t) => {
  const end = await startAgentServer(t, scriptedModel([order("echo 1 >> f"), said("Fine.")]));
  for (const yes of ["YES", "sim", "sí", "y"]) {
    const session = await end.session();
    const { run } = await asking(end, session, "again");
    const unclear = await answer(end, { session_id: session, answer: "yes, but only one of them" });
    assert.equal(unclear.status, 422, unclear.text);
    assert.deepEqual(await answersOf(end, run), []);
    assert.equal((await answer(end, { session_id: session, answer: yes })).status, 200);
    assert.deepEqual(await answersOf(end, run), ["yes"]);
    await Array.fromAsync(end.runs.follow(run));
  }
});

test("a client that was not shown the question has to name it", async (t) => {
  const end = await startAgentServer(t, scriptedModel([order("echo 1 >> f"), said("Fine.")]));
  const session = await end.session();
  const { question, run } = await asking(end, session, "first");
  const other = await end.token("ana", "runs", "approve");
  const blind = await answer(end, { session_id: session, answer: "yes" }, other);
  assert.equal(blind.status, 409, blind.text);
  assert.deepEqual(await answersOf(end, run), []);
  const named = await answer(end, { session_id: session, question_id: question, answer: "yes" }, other);
  assert.equal(named.status, 200, named.text);
});
