import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { readConfig } from "../../packages/brain/src/config.ts";
import { bedrock, bedrockBearer } from "./bedrock.ts";
import { azure, azureEntra, vertex } from "./clouds.ts";
import { mistral } from "./mistral.ts";
import { serveVendor } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* The vendors whose packages are installed on demand let in no other key than their own. */

const REQUEST = { system: "Be brief.", turns: [{ role: "user", text: "hello" }], tools: [] } as const;

const WRONG: readonly (readonly [Vendor, { readonly [name: string]: string }])[] = [
  [mistral, { MISTRAL_API_KEY: "another" }],
  [azure, { AZURE_API_KEY: "another" }],
  [azureEntra, { VIDRO_MODEL_KEY_COMMAND: "echo eyJhbm90aGVy.a.b" }],
  [bedrock, { AWS_SECRET_ACCESS_KEY: "another" }],
  [bedrock, { AWS_REGION: "us-east-1" }],
  [bedrockBearer, { AWS_BEARER_TOKEN_BEDROCK: "another" }],
  [vertex, { VIDRO_MODEL_KEY_COMMAND: "echo another" }],
];

for (const [vendor, wrong] of WRONG) {
  const [variable = ""] = Object.keys(wrong);
  test(`${vendor.name} refuses a wrong ${variable}, and the fault names it without telling it`, async (t) => {
    const server = await serveVendor(vendor);
    t.after(() => server.close());
    const model = await chooseModel(readConfig({ env: { ...server.env, ...wrong } }));
    const last = (await Array.fromAsync(model.call(REQUEST, AbortSignal.timeout(60_000)))).at(-1);
    assert.ok(last?.type === "failed" && last.fault.code === "MODEL_KEY_REFUSED", JSON.stringify(last));
    assert.ok(!last.fault.message.includes("another"), last.fault.message);
    assert.equal(server.refusals.length, 1);
  });
}
