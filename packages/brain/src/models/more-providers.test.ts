import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isObject } from "@vidro/core";
import type { FaultReport, JsonObject } from "@vidro/core";
import { readConfig } from "../config.ts";
import { chooseModel } from "./choose.ts";
import { REQUEST } from "./model.contract.ts";
import { loadVendorPackage } from "./vendor-packages.ts";

/** What a vendor's server received. */
interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

/** Calls a model whose vendor's server is on this machine and refuses the key; gives what it received. */
async function received(model: string, envAt: (url: string) => { readonly [name: string]: string }) {
  const all: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = request.method === "POST" ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : {};
      if (request.method === "POST")
        all.push({ path: request.url ?? "", headers: request.headers, body: isObject(body) ? body : {} });
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no such key"}}');
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const env = envAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const chosen = await chooseModel(readConfig({ env: { ...env, VIDRO_MODEL: model } }));
    const faults: FaultReport[] = [];
    for await (const event of chosen.call(REQUEST, AbortSignal.timeout(20_000)))
      if (event.type === "failed") faults.push(event.fault);
    assert.equal(all.length, 1, JSON.stringify(faults));
    return { ...all[0]!, fault: faults[0] };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

for (const [name, own] of [
  ["groq", "/openai/v1"],
  ["openrouter", "/api/v1"],
  ["deepseek", "/v1"],
] as const)
  test(`${name} is called with OpenAI's chat completions at its address, with its key`, async () => {
    const variable = name.toUpperCase();
    const { path, headers, body, fault } = await received(`${name}/maker/m`, (url) => {
      return { [`${variable}_BASE_URL`]: `${url}${own}`, [`${variable}_API_KEY`]: "the-key" };
    });
    assert.deepEqual([path, headers.authorization], [`${own}/chat/completions`, "Bearer the-key"]);
    assert.deepEqual([body["model"], body["stream"]], ["maker/m", true]);
    assert.equal(fault?.code, "MODEL_KEY_REFUSED");
  });

for (const name of ["lmstudio", "vllm"])
  test(`${name} is called on this machine without a key`, async () => {
    const { path, headers, body } = await received(`${name}/m`, (url) => ({ [`${name.toUpperCase()}_HOST`]: url }));
    assert.deepEqual([path, headers.authorization, body["model"]], ["/v1/chat/completions", undefined, "m"]);
  });

test("xai is called with Responses, stores nothing, and asks for its encrypted thinking", async () => {
  const { path, headers, body } = await received("xai/grok-4.7", (url) => {
    return { XAI_BASE_URL: url, XAI_API_KEY: "the-key" };
  });
  assert.deepEqual([path, headers.authorization], ["/v1/responses", "Bearer the-key"]);
  assert.deepEqual(
    [body["model"], body["store"], body["include"]],
    ["grok-4.7", false, ["reasoning.encrypted_content"]],
  );
});

test("a vendor without a usual model asks for its name", async () => {
  const env = { GROQ_API_KEY: "k", VIDRO_MODEL: "groq" };
  await assert.rejects(chooseModel(readConfig({ env })), { code: "MODEL_UNKNOWN", message: /groq\/<model>/ });
});

test("a package that cannot be installed says so, and what to do", async () => {
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  try {
    const env = { MISTRAL_API_KEY: "k", VIDRO_MODEL: "mistral/m", VIDRO_VENDOR_PACKAGES: "/dev/null/vendors" };
    const chosen = await chooseModel(readConfig({ env }));
    for await (const event of chosen.call(REQUEST, AbortSignal.timeout(20_000))) {
      assert.equal(event.type === "failed" && event.fault.code, "MODEL_UNAVAILABLE");
      assert.match(JSON.stringify(event), /@ai-sdk\/mistral cannot be installed[^]*copy the folder/);
    }
  } finally {
    process.env["PATH"] = path;
  }
});

test("a package is installed when a model of its vendor is first used, whole, also by several at once", async (t) => {
  const parent = await mkdtemp(join(tmpdir(), "vidro-vendors-"));
  t.after(() => rm(parent, { recursive: true, force: true }));
  // The set-up of the tests has filled npm's cache.
  process.env["npm_config_prefer_offline"] = "true";
  t.after(() => delete process.env["npm_config_prefer_offline"]);
  const folder = join(parent, "home", "vendors");
  const load = () => loadVendorPackage<{ createMistral: unknown }>("@ai-sdk/mistral", folder);
  const loaded = await Promise.all([load(), load()]);
  for (const { createMistral } of loaded) assert.equal(typeof createMistral, "function");
  assert.deepEqual(await readdir(join(parent, "home")), ["vendors"]);
});

test("mistral, azure, bedrock and vertex are called by their own packages", async () => {
  // The set-up of the tests installs them there.
  const own = { VIDRO_VENDOR_PACKAGES: join(import.meta.dirname, "..", "..", "vendors") };
  const mistral = await received("mistral/m", (url) => ({ ...own, MISTRAL_API_KEY: "k", MISTRAL_BASE_URL: url }));
  assert.deepEqual([mistral.path, mistral.headers.authorization], ["/v1/chat/completions", "Bearer k"]);
  assert.deepEqual([mistral.body["model"], mistral.body["stream"]], ["m", true]);
  const azure = await received("azure/m", (url) => ({ ...own, AZURE_API_KEY: "k", AZURE_BASE_URL: url }));
  assert.match(azure.path, /^\/openai\/v1\/responses/);
  assert.deepEqual([azure.headers["api-key"], azure.body["model"], azure.body["store"]], ["k", "m", false]);
  const bedrock = await received("bedrock/m", (url) => {
    return { ...own, AWS_BEARER_TOKEN_BEDROCK: "k", AWS_REGION: "eu-west-1", BEDROCK_BASE_URL: url };
  });
  assert.deepEqual([bedrock.path, bedrock.headers.authorization], ["/model/m/converse-stream", "Bearer k"]);
  const vertex = await received("vertex/gemini-m", (url) => {
    return { ...own, GOOGLE_VERTEX_API_KEY: "k", GOOGLE_VERTEX_BASE_URL: url };
  });
  assert.match(vertex.path, /^\/v1\/publishers\/google\/models\/gemini-m:streamGenerateContent/);
  assert.equal(vertex.headers["x-goog-api-key"], "k");
  for (const { fault } of [mistral, azure, bedrock, vertex]) assert.equal(fault?.code, "MODEL_KEY_REFUSED");
});
