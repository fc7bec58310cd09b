import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import type { Hand, Outcome } from "@vidro/core";
import { openBrain } from "../brain.ts";
import { readConfig } from "../config.ts";
import { calls, fakeOpenAi, text } from "../../../../tests/support/fake-openai.ts";
import { startPostgres } from "../../../../tests/support/postgres-server.ts";
import { openDatabase } from "../stores/sqlite/open.ts";
import { entry, knowledgeContract } from "./knowledge.contract.ts";
import { postgresKnowledge } from "./postgres-knowledge.ts";
import { sqliteKnowledge } from "./sqlite-knowledge.ts";
import { KNOWLEDGE_MIGRATIONS } from "./sqlite-schema.ts";

async function folderFor(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "vidro-knowledge-")));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

let opened = 0;
const postgres = await startPostgres();
after(() => postgres.close());

knowledgeContract("sqlite", async (entries) => sqliteKnowledge(":memory:", entries === undefined ? {} : { entries }));
knowledgeContract("postgres", async (entries) =>
  postgresKnowledge(postgres.storeUrl(`knowledge_${(opened += 1)}`), entries),
);

test("entries that an older version wrote are found by their words", async (t) => {
  const path = join(await folderFor(t), "knowledge.db");
  const old = openDatabase(path, KNOWLEDGE_MIGRATIONS.slice(0, 2));
  old.exec(
    "INSERT INTO entry VALUES (1, 'kb_1', 'ana', 'Configurações', '[]', 'A porta.', 'unverified', 'model', NULL, NULL, 1)",
  );
  old.close();
  const knowledge = sqliteKnowledge(path);
  t.after(() => knowledge.close());
  await knowledge.add(entry("kb_2", "newer"));
  for (const [words, id] of [
    ["configuracao portas", "kb_1"],
    ["newer", "kb_2"],
  ] as const)
    assert.deepEqual(
      (await knowledge.search({ text: words, limit: 5 })).map((found) => found.id),
      [id],
    );
});

test("brains on one database share their knowledge", async (t) => {
  const folder = await folderFor(t);
  const env = { VIDRO_MODEL: "offline", VIDRO_STORE: postgres.storeUrl("shared") };
  const open = (name: string) => openBrain({ home: join(folder, name), config: readConfig({ env }) });
  const [one, other] = await Promise.all([open("one"), open("other")]);
  t.after(() => Promise.all([one.close(), other.close()]));
  await one.knowledge.add(entry("kb_1", "Portas"));
  assert.deepEqual(
    (await other.knowledge.search({ text: "porta", limit: 5 })).map(({ id }) => id),
    ["kb_1"],
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
