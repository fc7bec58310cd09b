import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { temporaryFolder } from "../support/local-runs.ts";
import { anthropic } from "./anthropic.ts";
import { bedrock, bedrockBearer, bedrockProcess } from "./bedrock.ts";
import { azure, azureEntra, vertex } from "./clouds.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { mistral } from "./mistral.ts";
import { ollama } from "./ollama.ts";
import { responses } from "./responses.ts";
import type { JsonObject } from "@vidro/core";
import { ANSWER, fileOf, serveVendor, STEPS } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* A run of five steps against servers that enforce the rules of their vendors; the brain is killed before each step. */

const VENDORS = [anthropic, gemini, responses, compatible("reasoning_content"), compatible("reasoning"), ollama];
/** Those whose packages are installed on demand. */
const MORE_VENDORS = [mistral, azure, azureEntra, bedrock, bedrockProcess, bedrockBearer, vertex];

for (const vendor of [...VENDORS, ...MORE_VENDORS]) {
  test(`what a model thought goes back to it, also when the brain is killed between any two steps: ${vendor.name}`, async (t) => {
    const { launcher: vidro } = bundledCommands();
    const folder = temporaryFolder(t);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    for (let step = 1; step <= STEPS; step++) writeFileSync(join(workspace, fileOf(step)), `content ${step}\n`);
    let child: ChildProcess | undefined;
    const killedAt = new Set<number>();
    const server = await serveVendor(vendor, (step) => {
      if (step === 1 || killedAt.has(step)) return true;
      killedAt.add(step);
      child?.kill("SIGKILL");
      return false;
    });
    t.after(() => server.close());
    const live = async (...args: string[]): Promise<string> => {
      child = spawn(vidro, args, {
        cwd: workspace,
        env: { PATH: process.env["PATH"], HOME: folder, VIDRO_HOME: join(folder, "home"), ...server.env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
      child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
      await once(child, "close");
      return output;
    };
    let output = await live("run", "--json", "read the five files");
    for (let life = 0; life < STEPS && !output.includes(ANSWER); life++) {
      assert.deepEqual(server.refusals, []);
      output = await live("attach", "--json", "--last");
    }
    assert.deepEqual(server.refusals, []);
    assert.ok(output.includes(ANSWER), output.slice(-2000));
    assert.ok(output.includes(`content ${STEPS}`), "the files were read");
    assert.equal(killedAt.size, STEPS, "killed before each step but the first");
    assertPrefixKept(vendor, server.bodies);
  });
}

/** Each request begins with the bytes of the one before it: what caches and signatures hold for. */
function assertPrefixKept(vendor: Vendor, bodies: readonly JsonObject[]): void {
  assert.equal(bodies.length, STEPS + 1);
  const told = bodies.map((body) => vendor.prefix(body));
  const bytes = told.map(({ growing }) => JSON.stringify(growing).slice(0, -1));
  for (const [index, { fixed }] of told.entries()) {
    assert.equal(JSON.stringify(fixed), JSON.stringify(told[0]?.fixed), "system text and tools stay as they were");
    if (index > 0)
      assert.ok(bytes[index]?.startsWith(bytes[index - 1] ?? ""), `step ${index + 1} alters an earlier one`);
  }
}
