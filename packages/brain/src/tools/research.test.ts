import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, KNOWLEDGE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { DocumentMatch } from "../knowledge/document-index.ts";
import type { KnowledgeEntry } from "../knowledge/knowledge.ts";
import { sqliteKnowledge } from "../knowledge/sqlite-knowledge.ts";
import { researchTool } from "./research.ts";
import type { WebQuery, WebResult, WebSearch } from "./web-search/web-search.ts";

const SECTION: DocumentMatch = { path: "/docs/a guide#1.md", line: 7, title: "Ports", snippet: "It is 9042." };
const PAGE: WebResult = { title: "Glass", url: "https://glass.example/", snippet: "sand" };

/** A research over real knowledge of `ana`, with documents and a web that answer as said. */
async function stage(
  t: TestContext,
  {
    known = [],
    sections = [],
    web,
  }: {
    readonly known?: readonly Partial<KnowledgeEntry>[];
    readonly sections?: readonly DocumentMatch[];
    readonly web?: (query: WebQuery) => Promise<readonly WebResult[]>;
  },
) {
  const knowledge = sqliteKnowledge(":memory:");
  t.after(() => knowledge.close());
  const about = { owner: "ana", tags: [], status: "verified", trust: "person", at: 0 } as const;
  for (const [place, entry] of known.entries())
    await knowledge.add({ ...about, id: `kb_${place}`, title: "Glass", snippet: `fact ${place}`, ...entry });
  const asked: [string, number][] = [];
  const search = async (text: string, limit: number): Promise<readonly DocumentMatch[]> => {
    asked.push([text, limit]);
    return sections.slice(0, limit);
  };
  const service: WebSearch | undefined = web === undefined ? undefined : { name: "searxng", search: web };
  const tool = researchTool(knowledge, { search }, service);
  const run = async (input: JsonObject, owner: string | null = "ana", signal = new AbortController().signal) => {
    const none = { show: () => undefined, spend: () => undefined };
    const outcome = await tool.run(input, {
      run: "run_1",
      owner: owner ?? undefined,
      signal,
      action: "act_1",
      ...none,
    });
    assert.ok(outcome.kind === "value");
    const { docs } = outcome.data as { docs: { title: string; url: string; snippet: string; meta: JsonObject }[] };
    return { text: outcome.text, docs, urls: docs.map(({ url }) => url) };
  };
  return { tool, asked, run };
}

test("an input that is no research is refused with the rule that it breaks", async (t) => {
  const { tool } = await stage(t, {});
  const queries = /^research: queries is a list of 1 to 8 texts of at most 500 characters\.$/;
  const most = /^research: maxDocs is a whole number from 1 to 20\.$/;
  const refused: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, queries],
    [{ queries: "glass" }, queries],
    [{ queries: [] }, queries],
    [{ queries: ["glass", ""] }, queries],
    [{ queries: ["glass", " \n"] }, queries],
    [{ queries: ["glass", 7] }, queries],
    [{ queries: [null] }, queries],
    [{ queries: Array(KNOWLEDGE_LIMITS.queries + 1).fill("glass") }, queries],
    [{ queries: ["x".repeat(KNOWLEDGE_LIMITS.titleChars + 1)] }, queries],
    [{ queries: ["glass"], maxDocs: 0 }, most],
    [{ queries: ["glass"], maxDocs: 1.5 }, most],
    [{ queries: ["glass"], maxDocs: "5" }, most],
    [{ queries: ["glass"], maxDocs: null }, most],
    [{ queries: ["glass"], maxDocs: KNOWLEDGE_LIMITS.docs + 1 }, most],
    [{ queries: ["glass"], limit: 3 }, /^research: there is no field limit; it takes queries and maxDocs\.$/],
  ];
  for (const [input, message] of refused)
    assert.throws(() => tool.check(input), { code: "BAD_ARGUMENTS", message }, JSON.stringify(input).slice(0, 80));
  tool.check({ queries: ["x".repeat(KNOWLEDGE_LIMITS.titleChars)], maxDocs: KNOWLEDGE_LIMITS.docs });
});

test("without a service the research is a read of what the brain has", async (t) => {
  const { tool } = await stage(t, {});
  assert.deepEqual([tool.spec.effect, tool.class], ["read", "read"]);
  assert.equal(tool.reason, "it reads the brain's own knowledge and documents");
});

test("a finding says whether a person or a run found it, where and when, and findings of other owners are left out", async (t) => {
  const source = { run: "run_9", seq: 4 };
  const known = [
    { at: 1000 },
    { source, status: "unverified", trust: "model", tags: ["a"] } as const,
    { owner: "bea" },
  ];
  const { run } = await stage(t, { known });
  const { text, docs, urls } = await run({ queries: ["glass"] });
  assert.deepEqual(urls.toSorted(), ["vidro:knowledge/kb_0", "vidro:knowledge/kb_1"]);
  assert.match(text, /Glass \(verified, added by a person, 1970-01-01T00:00:01\.000Z\)\nfact 0/);
  assert.match(text, /Glass \(unverified, from run run_9, entry 4, 1970-01-01T00:00:00\.000Z\)\nfact 1/);
  const found = docs.find(({ url }) => url.endsWith("kb_1"));
  assert.deepEqual(found?.meta, { tags: ["a"], status: "unverified", trust: "model", run: "run_9", seq: 4, at: 0 });
});

test("a run without an owner is given neither knowledge nor documents", async (t) => {
  const { run, asked } = await stage(t, { known: [{}], sections: [SECTION] });
  const { text, docs } = await run({ queries: ["glass", 'the "port"'] }, null);
  assert.deepEqual([docs, asked], [[], []]);
  assert.equal(text, '[nothing is known about "glass", "the \\"port\\""]');
});

test("documents fill up what knowledge leaves, each once, with an address that opens at its line", async (t) => {
  const { run, asked } = await stage(t, { known: [{}], sections: [SECTION, { ...SECTION, line: 9 }] });
  const { text, urls } = await run({ queries: ["glass", "port"], maxDocs: 4 });
  assert.deepEqual(urls, [
    "vidro:knowledge/kb_0",
    "file:///docs/a%20guide%231.md#L7",
    "file:///docs/a%20guide%231.md#L9",
  ]);
  assert.deepEqual(asked, [
    ["glass", 3],
    ["port", 1],
  ]);
  assert.match(text, /\[2\] Ports \(\/docs\/a guide#1\.md, line 7\)\nIt is 9042\./);
});

test("as many documents as asked for come, and those that are enough are not looked for elsewhere", async (t) => {
  const web = (): never => assert.fail("the web is not asked");
  const known = Array.from({ length: 9 }, () => ({}));
  const { run, asked } = await stage(t, { known, sections: [SECTION], web });
  assert.equal((await run({ queries: ["glass"] })).docs.length, KNOWLEDGE_LIMITS.docsUnasked);
  assert.equal((await run({ queries: ["glass", "fact"], maxDocs: 2 })).docs.length, 2);
  assert.deepEqual(asked, []);
});

test("a page that two queries find comes once", async (t) => {
  const asked: string[] = [];
  const web = async ({ text }: WebQuery): Promise<readonly WebResult[]> => (asked.push(text), [PAGE]);
  const { run } = await stage(t, { web });
  assert.deepEqual((await run({ queries: ["a", "b"] })).urls, [PAGE.url]);
  assert.deepEqual(asked, ["a", "b"]);
});

test("a web that fails takes nothing away that was found before, and the failure is told", async (t) => {
  const web = async (): Promise<never> => Promise.reject(new Fault("TOOL_FAILED", "searxng answered with status 500."));
  const { run } = await stage(t, { known: [{}], web });
  const { text, urls } = await run({ queries: ["glass"] });
  assert.deepEqual(urls, ["vidro:knowledge/kb_0"]);
  assert.match(text, /fact 0\n\n\[the web was not searched to the end: searxng answered with status 500\.\]$/);
});

test("a web that fails is the failure of a research that found nothing, and so is the abort of its run", async (t) => {
  const fails = new Fault("TOOL_FAILED", "searxng answered with status 500.");
  const nothing = await stage(t, { web: async () => Promise.reject(fails) });
  await assert.rejects(nothing.run({ queries: ["glass"] }), fails);
  const stop = new AbortController();
  const web = async ({ signal }: WebQuery): Promise<never> => {
    stop.abort();
    signal.throwIfAborted();
    return assert.fail("it was aborted");
  };
  const stopped = await stage(t, { known: [{}], web });
  await assert.rejects(stopped.run({ queries: ["glass"] }, "ana", stop.signal), { name: "AbortError" });
});
