import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { DOCUMENT_LIMITS } from "@vidro/core";
import { folder } from "../stores/journal.fixture.ts";
import { DocumentIndex } from "./document-index.ts";

const section = (text: string, title = "", line = 1) => ({ line, title, text });
const document = (path: string, ...texts: readonly string[]) => ({
  path,
  identity: `${path}@1`,
  sections: texts.map((text, at) => section(text, "", at + 1)),
});

/** An index that is gone in the end. */
function indexed(t: { after(done: () => Promise<void>): void }): DocumentIndex {
  const index = new DocumentIndex(":memory:");
  t.after(() => index.close());
  return index;
}

const paths = (found: readonly { path: string }[]): readonly string[] => found.map(({ path }) => path);

test("a document that is stored again is the new one, and nothing of the old one is found", async (t) => {
  const index = indexed(t);
  await index.put("/d", document("/d/a.md", "alpha", "beta"));
  await index.put("/d", { ...document("/d/a.md", "gamma"), identity: "2" });
  assert.deepEqual([await index.search("alpha", 9), await index.search("beta", 9)], [[], []]);
  assert.deepEqual(paths(await index.search("gamma", 9)), ["/d/a.md"]);
  assert.deepEqual([...(await index.identities("/d"))], [["/d/a.md", "2"]]);
  const [status] = await index.status(["/d"]);
  assert.deepEqual([status?.documents, status?.sections], [1, 1]);
});

test("the same path in two folders is two documents, and removing one leaves the other", async (t) => {
  const index = indexed(t);
  for (const where of ["/d", "/e"]) await index.put(where, document("a.md", "alpha"));
  await index.remove("/d", "a.md");
  await index.remove("/d", "none.md");
  assert.equal((await index.search("alpha", 9)).length, 1);
  assert.equal((await index.identities("/e")).size, 1);
});

test("folders that are no longer set are forgotten with their documents, also all of them", async (t) => {
  const index = indexed(t);
  for (const where of ["/d", '/it\'s "odd", [e]']) {
    await index.put(where, document(`${where}/a.md`, "alpha"));
    await index.settle(where, { leftOut: [], fault: undefined });
  }
  await index.keepFolders(['/it\'s "odd", [e]']);
  assert.deepEqual(paths(await index.search("alpha", 9)), ['/it\'s "odd", [e]/a.md']);
  assert.equal((await index.status(["/d"]))[0]?.at, null);
  await index.keepFolders([]);
  assert.deepEqual(await index.search("alpha", 9), []);
});

test("sections with all words come first; if none has all of them, those with some do", async (t) => {
  const index = indexed(t);
  await index.put("/d", document("/d/a.md", "disk quota of users", "disk", "quota"));
  assert.deepEqual(
    (await index.search("disk quota", 9)).map(({ line }) => line),
    [1],
  );
  assert.deepEqual(new Set((await index.search("disk unicorn", 9)).map(({ line }) => line)), new Set([1, 2]));
  assert.equal((await index.search("disk unicorn", 1)).length, 1);
});

test("a title says more than a text", async (t) => {
  const index = indexed(t);
  const sections = [section("how to restore a backup of all that there is", "", 1), section("steps", "Restore", 2)];
  await index.put("/d", { path: "/d/a.md", identity: "1", sections });
  assert.equal((await index.search("restore", 1))[0]?.line, 2);
});

test("words of a query are never operators, whatever a person types", async (t) => {
  const index = indexed(t);
  await index.put("/d", document("/d/a.md", "plain words"));
  for (const query of [
    '"',
    "NEAR(",
    "a AND",
    "title:x",
    "*",
    "^plain",
    "plain* OR",
    "'; DROP TABLE section; --",
    "-",
    "\0",
  ])
    assert.ok(Array.isArray(await index.search(query, 5)), query);
  assert.deepEqual(paths(await index.search("PLAIN! (words)", 5)), ["/d/a.md"]);
  assert.deepEqual(await index.search("  ,;.  ", 5), []);
});

test("any text that is stored is found by its own first word, accents and capitals aside", async (t) => {
  const index = indexed(t);
  const word = fc.stringMatching(/^[a-zA-ZáéíõçüñÀÖß]{4,12}$/);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(word, async (first) => {
      const path = `/d/${(count += 1)}.md`;
      await index.put("/d", document(path, `${first} marker${count}`));
      const query = `${first.toUpperCase()} marker${count}`;
      assert.ok(paths(await index.search(query, 5)).includes(path), first);
    }),
    { numRuns: 60 },
  );
});

test("a snippet is cut at its bound, half characters are mended, and the status keeps the first reasons", async (t) => {
  const index = indexed(t);
  await index.put(
    "/d",
    document("/d/a.md", `needle ${"x".repeat(2 * DOCUMENT_LIMITS.snippetChars)}`, "lone \uD800 half"),
  );
  assert.equal((await index.search("needle", 1))[0]?.snippet.length, DOCUMENT_LIMITS.snippetChars);
  assert.ok((await index.search("lone", 1))[0]?.snippet.isWellFormed());
  const leftOut = Array.from({ length: DOCUMENT_LIMITS.reasons + 5 }, (_, at) => `reason ${at}`);
  await index.settle("/d", { leftOut, fault: "not mounted" });
  const [status] = await index.status(["/d"]);
  assert.deepEqual(
    [status?.leftOut.length, status?.leftOut[0], status?.fault],
    [DOCUMENT_LIMITS.reasons, "reason 0", "not mounted"],
  );
  await index.settle("/d", { leftOut: [], fault: undefined });
  assert.deepEqual((await index.status(["/d"]))[0]?.fault, null);
});

test("an index is there for the next process", async () => {
  using place = folder();
  const path = join(place.path, "documents.db");
  const first = new DocumentIndex(path);
  await first.put("/d", document("/d/a.md", "alpha"));
  await first.close();
  const second = new DocumentIndex(path);
  assert.deepEqual(paths(await second.search("alpha", 5)), ["/d/a.md"]);
  await second.close();
});
