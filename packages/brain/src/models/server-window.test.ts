import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { windowAt } from "./server-window.ts";

/** A server that answers these paths with JSON or text and others with 404; gives its base URL and what it was asked. */
async function serverWith(t: TestContext, answers: { readonly [path: string]: unknown }) {
  const asked: { readonly path: string; readonly key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? "", key: request.headers.authorization });
    const answer = answers[request.url ?? ""];
    request.resume();
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const SERVERS: {
  readonly [what: string]: readonly [answers: { readonly [path: string]: unknown }, window: number | undefined];
} = {
  "llama.cpp": [{ "/props": { default_generation_settings: { n_ctx: 4096 } } }, 4096],
  "an older llama.cpp": [{ "/props": { n_ctx: 8192 } }, 8192],
  "Ollama with the model in memory": [
    { "/api/ps": { models: [{ name: "m:latest", context_length: 16_384 }] } },
    16_384,
  ],
  "Ollama with another model in memory": [
    { "/api/ps": { models: [{ name: "other", context_length: 16_384 }] } },
    undefined,
  ],
  "Ollama with a parameter": [
    { "/api/show": { parameters: "stop x\nnum_ctx   32768\n", model_info: { "llama.context_length": 131_072 } } },
    32_768,
  ],
  "Ollama without one": [{ "/api/show": { model_info: { "llama.context_length": 131_072 } } }, 131_072],
  vLLM: [
    {
      "/v1/models": {
        data: [
          { id: "other", max_model_len: 1 },
          { id: "m", max_model_len: 65_536 },
        ],
      },
    },
    65_536,
  ],
  "LM Studio": [{ "/v1/models": { data: [{ id: "m", loaded_context_length: 4096, context_length: 131_072 }] } }, 4096],
  "a server that loads less than the model could have": [
    { "/props": { n_ctx: 2048 }, "/v1/models": { data: [{ id: "m", max_model_len: 131_072 }] } },
    2048,
  ],
  "a server without such words": [{}, undefined],
  "a server that answers all with a page": [{ "/props": "<html>", "/api/ps": "<html>", "/v1/models": "[]" }, undefined],
  "a server with absurd counts": [
    {
      "/props": { n_ctx: -1, default_generation_settings: "x" },
      "/api/ps": { models: [null, "m", { name: "m", context_length: "many" }] },
      "/v1/models": { data: { id: "m" } },
    },
    undefined,
  ],
};

for (const [what, [answers, window]] of Object.entries(SERVERS))
  test(`the window of a model at ${what} is ${window ?? "not known"}`, async (t) => {
    const { url, asked } = await serverWith(t, answers);
    assert.equal(await windowAt({ url, model: "m", key: "secret" }), window);
    assert.ok(asked.every(({ key }) => key === "Bearer secret"));
  });

test("a server that is gone has no window", async () => {
  assert.equal(await windowAt({ url: "http://127.0.0.1:1/v1", model: "m" }), undefined);
});
