import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rejects } from "../stores/journal.fixture.ts";
import type { Knowledge, KnowledgeEntry } from "./knowledge.ts";

/** Opens an empty knowledge base. */
type OpenKnowledge = (bound?: number) => Promise<Knowledge>;

/** An entry of ana, unless more is said. */
export function entry(id: string, title: string, more: Partial<KnowledgeEntry> = {}): KnowledgeEntry {
  const about = { owner: "ana", tags: [], snippet: "", status: "unverified", trust: "model", at: 1 } as const;
  return { id, title, ...about, ...more };
}

const idsOf = (found: readonly KnowledgeEntry[]): readonly string[] => found.map(({ id }) => id);

/** What every knowledge base does. */
export function knowledgeContract(name: string, open: OpenKnowledge): void {
  const on = (title: string, body: (knowledge: Knowledge) => Promise<void>, bound?: number): void =>
    void test(title, async () => {
      const knowledge = await open(bound);
      try {
        await body(knowledge);
      } finally {
        await knowledge.close();
      }
    });
  void describe(`${name}: knowledge`, () => {
    on("entries are found by words without accents and endings, the best first, by their owner", searches);
    on("an entry is got back as it was added, and once", keeps);
    on("entries are listed newest first, by owner, status and end of the id, page by page", lists);
    on("a search goes on behind an entry, also where some words have to do", pages);
    on("an entry is verified and removed by its owner, and by an administrator", changes);
    on("texts are bounded, and no text breaks the store", bounds);
    on("G7 who floods the knowledge base removes own unverified entries alone, the oldest first", floods, 6);
  });
}

async function searches(knowledge: Knowledge): Promise<void> {
  await knowledge.add(entry("1", "Configuração do servidor", { snippet: "A porta é 8080." }));
  await knowledge.add(
    entry("2", "Backups", { snippet: "Os servidores têm a configuracao em /etc.", tags: ["Nuvens"] }),
  );
  await knowledge.add(entry("3", "Configuração do servidor", { owner: "bob" }));
  const ids = async (text: string) => idsOf(await knowledge.search({ owner: "ana", text, limit: 5 }));
  assert.deepEqual(await ids("CONFIGURAÇÕES servidor"), ["1", "2"]);
  assert.deepEqual(await ids("configuracao 8080"), ["1"]);
  assert.deepEqual(await ids("backup nonsense"), ["2"], "some words are enough when no entry has all");
  assert.deepEqual(await ids("nuvem nuvens"), ["2"]);
  assert.deepEqual(await ids("another"), []);
  for (const rubbish of [
    '" OR 1',
    "title:x NEAR(",
    "*",
    "",
    "-",
    "'; DROP TABLE entry",
    "a & !b | (c",
    "x\0y",
    "\ud800",
  ])
    await ids(rubbish);
  const all = await knowledge.search({ text: "servidor", limit: 5 });
  assert.deepEqual(idsOf(all).toSorted(), ["1", "2", "3"]);
}

async function keeps(knowledge: Knowledge): Promise<void> {
  const source = { run: "run_1", seq: 7 };
  const whole = entry("1", "Título", { tags: ["a", "b c"], snippet: "x\ny", source, trust: "program", at: 5 });
  await knowledge.add(whole);
  await knowledge.add(entry("1", "another title under a known id"));
  assert.deepEqual(await knowledge.find("1"), whole);
  assert.deepEqual(await knowledge.find("1", "ana"), whole);
  assert.equal(await knowledge.find("1", "bob"), undefined);
  assert.equal(await knowledge.find("2"), undefined);
  assert.deepEqual(await knowledge.search({ text: "another", limit: 5 }), []);
  assert.deepEqual(await knowledge.search({ text: "titulo", limit: 5 }), [whole]);
}

async function lists(knowledge: Knowledge): Promise<void> {
  for (const id of ["a1", "a2", "a3", "a4"]) await knowledge.add(entry(id, "t"));
  await knowledge.add(entry("b1", "t", { owner: "bob", status: "verified" }));
  assert.deepEqual(idsOf(await knowledge.list({ limit: 9 })), ["b1", "a4", "a3", "a2", "a1"]);
  assert.deepEqual(idsOf(await knowledge.list({ owner: "ana", limit: 2 })), ["a4", "a3"]);
  assert.deepEqual(idsOf(await knowledge.list({ owner: "ana", limit: 2, after: "a3" })), ["a2", "a1"]);
  assert.deepEqual(idsOf(await knowledge.list({ status: "verified", limit: 9 })), ["b1"]);
  assert.deepEqual(idsOf(await knowledge.list({ owner: "ana", status: "unverified", ending: "2", limit: 9 })), ["a2"]);
  assert.deepEqual(idsOf(await knowledge.list({ ending: "1", limit: 9 })), ["b1", "a1"]);
  await rejects(knowledge.list({ owner: "ana", limit: 2, after: "b1" }), "NOT_FOUND");
}

async function pages(knowledge: Knowledge): Promise<void> {
  for (let n = 1; n <= 5; n += 1) await knowledge.add(entry(`e${n}`, `disk ${n}`));
  for (const text of ["disk", "disk nowhere"]) {
    const found: string[] = [];
    for (let after: string | undefined; found.length < 5;) {
      const page = await knowledge.search({ text, limit: 2, ...(after === undefined ? {} : { after }) });
      found.push(...idsOf(page));
      after = found.at(-1);
    }
    assert.deepEqual(found, ["e5", "e4", "e3", "e2", "e1"]);
    assert.deepEqual(await knowledge.search({ text, limit: 2, after: "e1" }), []);
    await rejects(knowledge.search({ text, limit: 2, after: "gone" }), "NOT_FOUND");
  }
}

async function changes(knowledge: Knowledge): Promise<void> {
  await knowledge.add(entry("1", "one"));
  await knowledge.add(entry("2", "two"));
  assert.deepEqual([await knowledge.verify("1", "bob"), await knowledge.remove("1", "bob")], [false, false]);
  assert.equal(await knowledge.verify("1", "ana"), true);
  assert.equal(await knowledge.verify("2"), true);
  assert.equal((await knowledge.find("2"))?.status, "verified");
  assert.deepEqual(idsOf(await knowledge.search({ text: "one", status: "verified", limit: 5 })), ["1"]);
  assert.deepEqual(idsOf(await knowledge.search({ text: "one", status: "unverified", limit: 5 })), []);
  assert.deepEqual([await knowledge.remove("1", "ana"), await knowledge.remove("2")], [true, true]);
  assert.equal(await knowledge.remove("2"), false);
  assert.deepEqual(await knowledge.list({ limit: 5 }), []);
}

async function bounds(knowledge: Knowledge): Promise<void> {
  const huge = "ã".repeat(20_000);
  await knowledge.add(entry("1", huge, { snippet: `${huge} needle`, tags: Array.from({ length: 50 }, () => huge) }));
  await knowledge.add(entry("2", "nul\0 and half \ud83d", { snippet: "it's a \\ 'quoted' {\"text\":1} 中文 слово" }));
  const cut = await knowledge.find("1");
  assert.deepEqual([cut?.title.length, cut?.snippet.length, cut?.tags.length], [500, 8192, 20]);
  for (const text of ["слово", "中文", "quoted", "half nul"])
    assert.deepEqual(idsOf(await knowledge.search({ text, limit: 5 })), ["2"], text);
  assert.deepEqual(idsOf(await knowledge.search({ text: huge, limit: 5 })), ["1"]);
}

async function floods(knowledge: Knowledge): Promise<void> {
  const ids = async (owner: string) => idsOf(await knowledge.search({ owner, text: "flood", limit: 20 })).toSorted();
  const stand = async () => [await ids("ana"), await ids("bob")];
  await knowledge.add(entry("a1", "flood"));
  await knowledge.add(entry("a2", "flood"));
  for (const id of ["b1", "b2", "b3", "b4", "b5"]) {
    await knowledge.add(entry(id, "flood", { owner: "bob" }));
    if (id === "b1") assert.equal(await knowledge.verify("b1", "bob"), true);
  }
  assert.deepEqual(await stand(), [
    ["a1", "a2"],
    ["b1", "b3", "b4", "b5"],
  ]);
  await knowledge.add(entry("b6", "flood", { owner: "bob" }));
  assert.deepEqual(await stand(), [
    ["a1", "a2"],
    ["b1", "b4", "b5", "b6"],
  ]);
  assert.equal(await knowledge.remove("b6", "bob"), true);
  for (const id of ["a3", "a4", "a5"]) await knowledge.add(entry(id, "flood"));
  assert.deepEqual(await stand(), [
    ["a3", "a4", "a5"],
    ["b1", "b4", "b5"],
  ]);
}
