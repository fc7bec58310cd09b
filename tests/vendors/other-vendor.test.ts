import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { temporaryFolder } from "../support/local-runs.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { ANSWER, fileOf, serveVendor, STEPS } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* A run that changes its vendor half-way: the next model of the chain gets the words, and nothing that is only the first one's. */

/** The step from which the first server takes no request any more. */
const LOST_AT = 3;

/** A server that knows nothing of thinking. */
const plain: Vendor = { ...compatible("reasoning_content"), name: "chat completions", refuse: () => undefined };

for (const first of [anthropic, responses, gemini])
  test(`the model of another vendor gets the words and no opaque data: after ${first.name}`, async (t) => {
    const folder = temporaryFolder(t);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    for (let step = 1; step <= STEPS; step++) writeFileSync(join(workspace, fileOf(step)), `content ${step}\n`);
    const lost = await serveVendor(first, (step) => {
      if (step >= LOST_AT) void lost.close();
      return step < LOST_AT;
    });
    const next = await serveVendor(plain);
    for (const server of [lost, next]) t.after(() => server.close());
    const models = [lost, next].map(({ env }) => env["VIDRO_MODEL"]).join(",");
    const child = spawn(bundledCommands().launcher, ["run", "--json", "read the five files"], {
      cwd: workspace,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        VIDRO_HOME: join(folder, "home"),
        ...lost.env,
        ...next.env,
        VIDRO_MODEL: models,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(child, "close");
    const output = await text(child.stdout);
    await closed;
    assert.ok(output.includes(ANSWER), output.slice(-2000));
    assert.deepEqual([lost.refusals, next.refusals], [[], []]);
    assert.match(output, /switch_model/);
    const opaque = opaqueIn(lost.bodies);
    assert.ok(opaque.length > 0, "the first model's own requests have its opaque data");
    for (const body of next.bodies.map((one) => JSON.stringify(one)))
      for (const data of opaque) assert.equal(body.includes(data), false, data);
    assert.match(JSON.stringify(next.bodies[0]), /content 1/);
  });

/** Signatures and encrypted reasoning in requests. */
function opaqueIn(bodies: readonly object[]): readonly string[] {
  const all = bodies.map((body) => JSON.stringify(body)).join("\n");
  const found = all.matchAll(/"(?:signature|thoughtSignature|encrypted_content)":"([^"]{4,})"/g);
  return [...new Set([...found].map(([, data = ""]) => data))];
}
