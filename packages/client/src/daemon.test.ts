import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Vidro } from "./client.ts";
import { cuttingProxy } from "./cutting-proxy.fixture.ts";
import { daemon } from "./daemon.fixture.ts";

/* The client and a real brain, process to process. */

const TASK = "how much disk is free?";
const brain = await daemon();
after(() => brain[Symbol.asyncDispose]());
const vidro = new Vidro({ url: brain.url, token: brain.token });

test("a run is started, watched, listed and has a result", async () => {
  const run = await vidro.run(TASK);
  const types: string[] = [];
  for await (const event of run) if ("seq" in event) types.push(event.type);
  assert.deepEqual([types[0], types.at(-1)], ["run.started", "run.finished"]);
  assert.match(JSON.stringify(await run.result()), /free/);
  assert.equal((await run.head()).status, "finished");
  assert.equal((await vidro.list({ limit: 1 }))[0]?.id, run.id);
  assert.deepEqual(await Array.fromAsync(run.events({ after: types.length })), []);
});

test("what models used is told by day and by thread", async () => {
  const run = await vidro.run(TASK);
  await run.result();
  const { thread, updatedAt } = await run.head();
  const [today] = await vidro.usage("day", { since: updatedAt - 60_000 });
  assert.match(today?.key ?? "", /^\d{4}-\d\d-\d\d$/);
  assert.ok(today !== undefined && today.runs >= 1 && today.steps >= 1 && today.costUsd === 0);
  const own = (await vidro.usage("thread")).find(({ key }) => key === thread);
  assert.equal(own?.runs, 1);
  assert.deepEqual(await vidro.usage("thread", { since: updatedAt + 60_000 }), []);
});

test("a run is the same run through connections that break after any number of bytes", async () => {
  const run = await vidro.run(TASK);
  await run.result();
  const whole = await Array.fromAsync(run.follow({ live: false }));
  let bytes = 0;
  // From less than an answer's head to more than all of it; each connection gets further than the one before.
  await using proxy = await cuttingProxy(brain.url, () => (bytes += 997));
  const broken = new Vidro({ url: proxy.url, token: brain.token, retries: 99, backoffMs: 0 });
  assert.deepEqual(await Array.fromAsync(broken.attach(run.id).follow({ live: false })), whole);
  assert.ok(proxy.cuts > 3, `${proxy.cuts} cuts`);
});

test("a run whose start was not acknowledged is started once", async () => {
  let connections = 0;
  await using proxy = await cuttingProxy(brain.url, () => (++connections <= 3 ? 1 : Infinity));
  const before = (await vidro.list()).length;
  const run = await new Vidro({ url: proxy.url, token: brain.token, backoffMs: 1 }).run(TASK);
  await run.result();
  assert.equal(proxy.cuts, 3);
  assert.equal((await vidro.list()).length, before + 1);
});

test("a question is answered, and an answer that comes too late is a conflict", async () => {
  const run = await vidro.run("run `touch made`");
  let asked = 0;
  for await (const event of run) {
    if (event.type !== "question.asked") continue;
    asked += 1;
    await run.answer({ text: event.options[1] ?? "no", question: event.id });
    await assert.rejects(run.answer({ text: "yes", question: event.id }), { code: "CONFLICT", status: 409 });
  }
  assert.equal(asked, 1);
  assert.equal((await run.head()).status, "finished");
});

test("a run that waits is aborted, and only once", async () => {
  const run = await vidro.run("run `touch made`");
  for await (const event of run) if (event.type === "question.asked") await run.abort("enough");
  await assert.rejects(run.result(), { code: "ABORTED", message: "enough" });
  await assert.rejects(run.abort(), { code: "CONFLICT" });
  await run.resume();
});

test("a wrong token, and a run that is not there, are told by name", async () => {
  const stranger = new Vidro({ url: brain.url, token: "0123456789abcdef0123456789abcdef.c2VjcmV0" });
  await assert.rejects(stranger.run(TASK), { code: "INVALID_TOKEN", status: 401 });
  await assert.rejects(new Vidro({ url: brain.url }).list(), { code: "AUTH_REQUIRED", status: 401 });
  await assert.rejects(Array.fromAsync(vidro.attach("run_none")), { code: "NOT_FOUND", status: 404 });
  await assert.rejects(vidro.run(""), { status: 422 });
});

test("agents, tools and conversations are what the brain has", async () => {
  const [bunny] = await vidro.agents.list();
  assert.equal(bunny?.name, "bunny");
  assert.deepEqual(await vidro.agents.find(bunny.uuid), bunny);
  const tools = await vidro.tools();
  assert.ok(tools.some(({ name }) => name === "shell"));
  const made = await vidro.agents.create({ name: "tester", prompt: "Test.", tools: ["shell"] });
  assert.equal((await vidro.agents.replace(made.uuid, { name: "tester", prompt: "Test more." })).prompt, "Test more.");
  const talk = await vidro.conversations.create({ agent: made.uuid });
  const run = await talk.run(TASK);
  await run.result();
  assert.equal((await run.head()).thread, talk.id);
  const { messages, agent } = await vidro.conversations.find(talk.id);
  assert.deepEqual([agent, messages[0]], [made.uuid, { role: "user", content: TASK }]);
  assert.ok((await vidro.conversations.list()).some(({ id }) => id === talk.id));
  await vidro.agents.delete(made.uuid);
  await assert.rejects(vidro.agents.find(made.uuid), { code: "NOT_FOUND" });
});
