import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, KNOWLEDGE_LIMITS } from "@vidro/core";
import type { Event } from "@vidro/core";
import { begin, entry, rejects } from "../stores/journal.fixture.ts";
import { memoryStore } from "../stores/memory.ts";
import { knowledgeJournal } from "./knowledge-journal.ts";
import { sqliteKnowledge } from "./sqlite-knowledge.ts";

/** A journal that learns, its knowledge, and what failed. */
function stage() {
  const knowledge = sqliteKnowledge(":memory:");
  const failures: unknown[] = [];
  const { journal: inner } = memoryStore();
  const journal = knowledgeJournal(inner, knowledge, (thrown) => void failures.push(thrown));
  return { journal, knowledge, failures };
}

const committed: Event = {
  type: "knowledge.committed",
  title: "Discos",
  tags: ["ops"],
  snippet: "sda está cheio",
  status: "unverified",
};
const note = (text: string): Event => ({ type: "note.observed", note: text });

test("findings and notes are kept with their run, their place and their owner", async () => {
  const { journal, knowledge } = stage();
  const lease = await begin(journal, "run_1");
  await journal.append(lease, [entry(2, committed), entry(3, note("\n  first line \nsecond")), entry(4, note("x"))]);
  const found = await knowledge.list({ limit: 10 });
  assert.deepEqual(
    found.map(({ id, title, tags, snippet, owner, source }) => [id, title, tags, snippet, owner, source]),
    [
      ["kb_run_1_4", "x", ["note"], "x", "me", { run: "run_1", seq: 4 }],
      ["kb_run_1_3", "first line ", ["note"], "\n  first line \nsecond", "me", { run: "run_1", seq: 3 }],
      ["kb_run_1_2", "Discos", ["ops"], "sda está cheio", "me", { run: "run_1", seq: 2 }],
    ],
  );
  assert.ok(found.every(({ status, trust, at }) => status === "unverified" && trust === "model" && at > 1000));
});

test("a blank note, and every other event, is no finding", async () => {
  const { journal, knowledge } = stage();
  const lease = await begin(journal, "run_1");
  await journal.append(lease, [entry(2, note(" \n\t ")), entry(3, { type: "run.finished", result: "done" })]);
  assert.deepEqual(await knowledge.list({ limit: 10 }), []);
});

test("the title of a long note is cut at its bound, also within a character, and the note is found by its words", async () => {
  const { journal, knowledge } = stage();
  const lease = await begin(journal, "run_1");
  const long = `${"a".repeat(KNOWLEDGE_LIMITS.titleChars - 1)}💧 tail`;
  await journal.append(lease, [entry(2, note(long))]);
  const [found] = await knowledge.search({ text: "tail", limit: 1 });
  assert.equal(found?.title.length, KNOWLEDGE_LIMITS.titleChars);
  assert.ok(found.title.isWellFormed());
});

test("what the store refuses is not learnt, and what it has already is learnt once", async () => {
  const { journal, knowledge } = stage();
  const lease = await begin(journal, "run_1");
  await rejects(journal.append(lease, [entry(7, committed)]), "CONFLICT");
  assert.deepEqual(await knowledge.list({ limit: 10 }), []);
  await journal.append(lease, [entry(2, committed)]);
  await journal.append(lease, [entry(2, committed)]);
  assert.equal((await knowledge.list({ limit: 10 })).length, 1);
});

test("the run goes on when its finding cannot be kept, and the failure is told", async () => {
  const { knowledge, failures } = stage();
  const { journal: inner } = memoryStore();
  const full = { ...knowledge, add: () => Promise.reject(new Fault("STORAGE_FULL")) };
  const journal = knowledgeJournal(inner, full, (thrown) => void failures.push(thrown));
  const lease = await begin(journal, "run_1");
  await journal.append(lease, [entry(2, committed)]);
  await journal.append(lease, [entry(3, note("more"))]);
  assert.equal((await journal.head("run_1"))?.seq, 3);
  assert.deepEqual(
    failures.map((thrown) => (thrown as Fault).code),
    ["STORAGE_FULL", "STORAGE_FULL"],
  );
});
