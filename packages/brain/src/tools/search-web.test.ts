import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { SEARCH_LIMITS } from "@vidro/core";
import { readConfig } from "../config.ts";
import { sqliteKnowledge } from "../knowledge/sqlite-knowledge.ts";
import { researchTool } from "./research.ts";
import { searchWebTool } from "./search-web.ts";
import { chooseSearch } from "./web-search/choose-search.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A search service on this machine that gives one answer, and what it was asked. */
async function service(t: TestContext, answer: { status?: number; body: string }) {
  const asked: Asked[] = [];
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = request;
    asked.push({ method, path: url, headers, body: await text(request) });
    response.writeHead(answer.status ?? 200, { "content-type": "application/json" }).end(answer.body);
  };
  const server = createServer((request, response) => void reply(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

const NONE = { action: "act_1", show: () => undefined, spend: () => undefined };
const context = () => ({ run: "run_1", owner: "ana", signal: new AbortController().signal, ...NONE });

function tool(env: { readonly [name: string]: string }) {
  return searchWebTool(chooseSearch(readConfig({ env })));
}

const PAGE = { title: "Vidro", url: "https://vidro.example/", content: "glass", description: "glass" };
const OTHERS = [{ title: "no address" }, null, { ...PAGE, url: "javascript:alert(1)" }];
const RESULTS = { service: "", results: [{ title: "Vidro", url: "https://vidro.example/", snippet: "glass" }] };

test("003-16 search_web asks the SearXNG server that is set, and gives titles, addresses and extracts", async (t) => {
  const { url, asked } = await service(t, { body: JSON.stringify({ results: [PAGE, ...OTHERS] }) });
  const outcome = await tool({ VIDRO_SEARCH_URL: url }).run({ query: "o que é vidro?" }, context());
  assert.deepEqual(outcome, {
    kind: "value",
    text: "[1] Vidro\nhttps://vidro.example/\nglass",
    data: { ...RESULTS, service: "searxng" },
  });
  assert.deepEqual(
    asked.map(({ method, path }) => [method, path]),
    [["GET", "/search?q=o+que+%C3%A9+vidro%3F&format=json"]],
  );
});

test("003-16 search_web asks Brave and Tavily as they document it, each with its key", async (t) => {
  const brave = await service(t, { body: JSON.stringify({ web: { results: [PAGE] } }) });
  const found = await tool({ VIDRO_SEARCH: "brave", BRAVE_API_KEY: "b-key", VIDRO_SEARCH_URL: brave.url }).run(
    { query: "glass" },
    context(),
  );
  assert.deepEqual(found.kind === "value" && found.data, { ...RESULTS, service: "brave" });
  assert.equal(brave.asked[0]?.path, "/web/search?q=glass&count=8");
  assert.equal(brave.asked[0]?.headers["x-subscription-token"], "b-key");
  const tavily = await service(t, { body: JSON.stringify({ results: [PAGE] }) });
  const env = { VIDRO_SEARCH: "tavily", TAVILY_API_KEY: "t-key", VIDRO_SEARCH_URL: tavily.url };
  await tool(env).run({ query: "glass" }, context());
  assert.equal(tavily.asked[0]?.headers.authorization, "Bearer t-key");
  assert.deepEqual(JSON.parse(tavily.asked[0]?.body ?? ""), { query: "glass", max_results: 8 });
});

test("a key alone chooses its service", () => {
  assert.equal(chooseSearch(readConfig({ env: { BRAVE_API_KEY: "k" } }))?.name, "brave");
  assert.equal(chooseSearch(readConfig({ env: { TAVILY_API_KEY: "k" } }))?.name, "tavily");
  assert.equal(chooseSearch(readConfig({ env: {} })), undefined);
  assert.throws(() => readConfig({ env: { VIDRO_SEARCH: "altavista" } }), /VIDRO_SEARCH.*searxng/);
});

test("search_web says what is wrong: no service, a refused key, an odd or huge answer, no server, a wrong input", async (t) => {
  const failing = async (env: { readonly [name: string]: string }) =>
    tool(env)
      .run({ query: "glass" }, context())
      .then(
        () => "nothing failed",
        (thrown: unknown) => String(thrown),
      );
  assert.match(await failing({}), /no service that searches the web.*VIDRO_SEARCH_URL/);
  const answering = async (answer: { status?: number; body: string }) =>
    failing({ VIDRO_SEARCH_URL: (await service(t, answer)).url });
  assert.match(await answering({ status: 403, body: "" }), /searxng answered with status 403\. .*search\.formats/);
  assert.match(await answering({ status: 429, body: "" }), /no more searches for now/);
  assert.match(await answering({ body: "<html>" }), /The answer is no JSON/);
  assert.match(await answering({ body: "{}" }), /without a list of results/);
  assert.match(await answering({ body: `"${"a".repeat(SEARCH_LIMITS.answerBytes)}"` }), /longer than 4194304 bytes/);
  const gone = createServer();
  await once(gone.listen(0, "127.0.0.1"), "listening");
  const { port } = gone.address() as AddressInfo;
  await once(gone.close(), "close");
  assert.match(await failing({ VIDRO_SEARCH_URL: `http://127.0.0.1:${port}/` }), /cannot be asked: .*ECONNREFUSED/);
  for (const input of [{}, { query: "" }, { query: 1 }, { query: "a", count: 3 }, { query: "a".repeat(1001) }])
    assert.throws(() => tool({}).check(input), /search_web: /, JSON.stringify(input));
});

test("000-30 research gives what is kept as knowledge first, and fills up from the web", async (t) => {
  const knowledge = sqliteKnowledge(":memory:");
  t.after(() => knowledge.close());
  const about = { owner: "ana", tags: [], status: "verified", trust: "person", at: 1 } as const;
  await knowledge.add({ ...about, id: "kb_1", title: "Glass", snippet: "It is made of sand." });
  const { url, asked } = await service(t, {
    body: JSON.stringify({ results: [PAGE, { ...PAGE, url: "https://b.example/" }] }),
  });
  const research = researchTool(
    knowledge,
    { search: async () => [] },
    chooseSearch(readConfig({ env: { VIDRO_SEARCH_URL: url } })),
  );
  assert.deepEqual([research.spec.effect, research.class], ["network", "network"]);
  const outcome = await research.run({ queries: ["glass"], maxDocs: 2 }, context());
  const docs = outcome.kind === "value" ? (outcome.data as { docs: { url: string }[] }).docs : [];
  assert.deepEqual(
    docs.map((doc) => doc.url),
    ["vidro:knowledge/kb_1", "https://vidro.example/"],
  );
  await research.run({ queries: ["glass"], maxDocs: 1 }, context());
  assert.equal(asked.length, 1, "what is known is not asked on the web");
});
