import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { Hand, Outcome } from "@vidro/core";
import { openBrain } from "../brain.ts";
import { readConfig } from "../config.ts";
import { calls, fakeOpenAi, text } from "../../../../tests/support/fake-openai.ts";
import type { KnowledgeEntry } from "./knowledge.ts";
import { sqliteKnowledge } from "./sqlite-knowledge.ts";

async function folderFor(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-knowledge-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const entry = (id: string, title: string, more: Partial<KnowledgeEntry> = {}): KnowledgeEntry => ({
  id,
  owner: "ana",
  title,
  tags: [],
  snippet: "",
  status: "unverified",
  trust: "model",
  at: 1,
  ...more,
});

test("entries are found by words without their accents, the best first, and only by their owner", async (t) => {
  const knowledge = sqliteKnowledge(join(await folderFor(t), "knowledge.db"));
  t.after(() => knowledge.close());
  await knowledge.add(entry("1", "Configuração do servidor", { snippet: "A porta é 8080." }));
  await knowledge.add(entry("2", "Backups", { snippet: "O servidor tem a configuracao em /etc." }));
  await knowledge.add(entry("3", "Configuração do servidor", { owner: "bob" }));
  await knowledge.add(entry("1", "another title under a known id"));
  const ids = async (words: string) =>
    (await knowledge.search({ owner: "ana", text: words, limit: 5 })).map(({ id }) => id);
  assert.deepEqual(await ids("CONFIGURAÇÃO servidor"), ["1", "2"]);
  assert.deepEqual(await ids("configuracao 8080"), ["1"]);
  assert.deepEqual(await ids("backups nonsense"), ["2"], "some words are enough when no entry has all");
  assert.deepEqual(await ids("another"), []);
  for (const rubbish of ['" OR 1', "title:x NEAR(", "*", "", "-", "'; DROP TABLE entry"]) await ids(rubbish);
  assert.equal(await knowledge.verify("3", "ana"), false);
  assert.equal(await knowledge.remove("2", "bob"), false);
  assert.equal(await knowledge.remove("2", "ana"), true);
  assert.equal(await knowledge.verify("1", "ana"), true);
  assert.deepEqual(
    (await knowledge.search({ owner: "ana", text: "servidor", limit: 5 })).map(({ id, status }) => [id, status]),
    [["1", "verified"]],
  );
});

test("G7 an owner who floods the knowledge base removes own entries alone, unverified ones, the oldest first", async (t) => {
  const knowledge = sqliteKnowledge(join(await folderFor(t), "knowledge.db"), { entries: 6 });
  t.after(() => knowledge.close());
  const ids = async (owner: string) =>
    (await knowledge.search({ owner, text: "flood", limit: 20 })).map(({ id }) => id).toSorted();
  await knowledge.add(entry("a1", "flood"));
  await knowledge.add(entry("a2", "flood"));
  for (const id of ["b1", "b2", "b3", "b4", "b5"]) {
    await knowledge.add(entry(id, "flood", { owner: "bob" }));
    if (id === "b1") assert.equal(await knowledge.verify("b1", "bob"), true);
  }
  assert.deepEqual(
    [await ids("ana"), await ids("bob")],
    [
      ["a1", "a2"],
      ["b1", "b3", "b4", "b5"],
    ],
  );
  await knowledge.add(entry("b6", "flood", { owner: "bob" }));
  assert.deepEqual(
    [await ids("ana"), await ids("bob")],
    [
      ["a1", "a2"],
      ["b1", "b4", "b5", "b6"],
    ],
  );
  assert.equal(await knowledge.remove("b6", "bob"), true);
  for (const id of ["a3", "a4", "a5"]) await knowledge.add(entry(id, "flood"));
  assert.deepEqual(
    [await ids("ana"), await ids("bob")],
    [
      ["a3", "a4", "a5"],
      ["b1", "b4", "b5"],
    ],
  );
});

const called = (name: string, input: object) => calls({ id: "call_1", name, input: JSON.stringify(input) });

/** What research finds with a run's owner as the one who asks. */
async function researched(hand: Hand, run: string, input: object): Promise<Outcome> {
  const action = { id: `act_${Math.random()}`, callId: "c", tool: "research", input: { ...input } };
  const judged = await hand.judge(action);
  if ("code" in judged) throw new Error(judged.message);
  assert.equal(judged.verdict.decision, "allow");
  const order = { action, epoch: 1, run, ttlMs: 1000 };
  const [ended] = await Array.fromAsync(hand.perform(order, new AbortController().signal));
  if (ended?.type !== "finished") throw new Error(JSON.stringify(ended));
  return ended.outcome;
}

test("000-06 000-34 what a model commits in one run is what research gives in a later one, with its source", async (t) => {
  const folder = await folderFor(t);
  const server = await fakeOpenAi(
    called("commit_kb", {
      title: "Porta do serviço",
      tags: ["rede"],
      snippet: "O serviço ouve na porta 9042.",
      status: "verified",
    }),
    text("kept"),
    called("research", { queries: ["porta servico"] }),
    text("It is 9042."),
  );
  t.after(() => server.close());
  const env = { VIDRO_MODEL: "test", VIDRO_MODEL_URL: server.url };
  const open = () => openBrain({ home: join(folder, "state"), config: readConfig({ env }) });
  let brain = await open();
  const run = async (task: string) => {
    const { run: head } = await brain.runs.start({ task, workspace: folder });
    await Array.fromAsync(brain.runs.follow(head.id));
    return { id: head.id, entries: await brain.journal.read(head.id, 0, 100) };
  };
  const first = await run("remember the port");
  await brain.close();
  brain = await open();
  t.after(() => brain.close());
  const second = await run("which port?");
  const finished = second.entries.find(({ event }) => event.type === "action.finished")?.event;
  assert.ok(finished?.type === "action.finished" && finished.outcome.kind === "value");
  assert.match(finished.outcome.text, /^\[1\] Porta do serviço \(unverified, from run run_/);
  const seq = first.entries.find(({ event }) => event.type === "knowledge.committed")?.seq;
  assert.partialDeepStrictEqual(finished.outcome.data, {
    docs: [
      {
        title: "Porta do serviço",
        snippet: "O serviço ouve na porta 9042.",
        meta: { run: first.id, seq, status: "unverified" },
      },
    ],
  });
  const hand = await brain.hand(folder);
  const nothing = await researched(hand, second.id, { queries: ["moon"] });
  assert.deepEqual(nothing.kind === "value" && nothing.data, { docs: [] });
  const foreign = await researched(hand, "run_unknown", { queries: ["porta"] });
  assert.deepEqual(foreign.kind === "value" && foreign.data, { docs: [] });
  for (const input of [{}, { queries: [] }, { queries: [1] }, { queries: ["a"], maxDocs: 0 }, { queries: ["a"], x: 1 }])
    await assert.rejects(researched(hand, second.id, input), /research: /);
});
