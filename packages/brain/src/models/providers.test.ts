import assert from "node:assert/strict";
import { readConfig } from "../config.ts";
import { registerHooks } from "node:module";
import { test } from "node:test";

const MORE = { packages: "/nowhere", details: {} };
const INSTALLED_ON_DEMAND = ["mistral", "azure", "bedrock", "vertex"];

test("no vendor's package is loaded before its first use", async () => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    load(url, context, next) {
      loaded.push(url);
      return next(url, context);
    },
  });
  const { chooseModel } = await import("./choose.ts");
  const { PROVIDERS } = await import("./providers.ts");
  await chooseModel(readConfig({ env: { ANTHROPIC_API_KEY: "k" } }));
  assert.deepEqual(
    loaded.filter((url) => url.includes("/@ai-sdk/")),
    [],
  );
  await PROVIDERS.find((provider) => provider.name === "anthropic")?.open("m", { key: "k", ...MORE });
  assert.ok(loaded.some((url) => url.includes("/@ai-sdk/anthropic/")));
  hooks.deregister();
});

test("every provider gives a model of the AI SDK by its own package", async () => {
  const { PROVIDERS } = await import("./providers.ts");
  const opened = await Promise.all(
    PROVIDERS.filter(({ name }) => !INSTALLED_ON_DEMAND.includes(name)).map((provider) =>
      provider.open("m", {
        ...(provider.keys.length === 0 ? { url: "http://127.0.0.1:9/v1" } : { key: "k" }),
        ...MORE,
      }),
    ),
  );
  assert.deepEqual(
    opened.map(({ specificationVersion, provider, modelId }) => [specificationVersion, provider, modelId]),
    [
      ["v4", "anthropic.messages", "m"],
      ["v4", "openai.responses", "m"],
      ["v4", "openai.responses", "m"],
      ["v4", "google.generative-ai", "m"],
      ["v4", "worker", "http://127.0.0.1:9/v1"],
      ["v4", "compatible.chat", "m"],
      ["v4", "openai.responses", "m"],
      ...Array.from({ length: 5 }, () => ["v4", "compatible.chat", "m"]),
    ],
  );
});
