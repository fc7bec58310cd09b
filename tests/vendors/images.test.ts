import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { temporaryFolder } from "../support/local-runs.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { ollama } from "./ollama.ts";
import { responses } from "./responses.ts";
import { ANSWER, fileOf, serveVendor, STEPS } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* A model reads files of which one is an image, and gets it in the words of its vendor; a model without eyes is told so. */

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAEklEQVR4nGP8z8AARIgAAAkAAP8BBgEBlHQ0VgAAAABJRU5ErkJggg==";
const IMAGE_STEP = 2;
const SEEING = { VIDRO_MODEL_FACTS: JSON.stringify({ thinker: { images: true } }) };

/** A vendor, settings besides its own, and how it has an image: undefined for a model that is not known to take any. */
const CASES: readonly { vendor: Vendor; more?: object; shape?: RegExp }[] = [
  { vendor: anthropic, shape: /\{"type":"image","source":\{"type":"base64","media_type":"image\/png","data":"iVBOR/ },
  { vendor: gemini, shape: /\{"inlineData":\{"mimeType":"image\/png","data":"iVBOR/ },
  { vendor: responses, shape: /\{"type":"input_image","image_url":"data:image\/png;base64,iVBOR/ },
  {
    vendor: compatible("reasoning"),
    more: SEEING,
    shape: /\{"type":"image_url","image_url":\{"url":"data:image\/png;base64,iVBOR/,
  },
  { vendor: compatible("reasoning_content") },
  { vendor: ollama },
];

for (const { vendor, more = {}, shape } of CASES)
  test(`an image that a tool reads is ${shape === undefined ? "told of" : "shown"} to the model: ${vendor.name}`, async (t) => {
    const folder = temporaryFolder(t);
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    for (let step = 1; step <= STEPS; step++) writeFileSync(join(workspace, fileOf(step)), `content ${step}\n`);
    writeFileSync(join(workspace, fileOf(IMAGE_STEP)), Buffer.from(PNG, "base64"));
    const server = await serveVendor(vendor);
    t.after(() => server.close());
    const child = spawn(bundledCommands().launcher, ["run", "--json", "read the five files"], {
      cwd: workspace,
      env: { PATH: process.env["PATH"], HOME: folder, VIDRO_HOME: join(folder, "home"), ...server.env, ...more },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await once(child, "close");
    assert.deepEqual(server.refusals, []);
    assert.ok(output.includes(ANSWER), output.slice(-2000));
    const bodies = server.bodies.map((body) => JSON.stringify(body));
    assert.equal(bodies.length, STEPS + 1);
    for (const [index, body] of bodies.entries()) {
      if (shape === undefined) {
        assert.ok(!body.includes(PNG));
        assert.equal(body.includes("this model is not known to take images"), index >= IMAGE_STEP);
      } else assert.equal(shape.test(body), index >= IMAGE_STEP, `request ${index + 1}`);
    }
    const grown = server.bodies.map((body) => JSON.stringify(vendor.prefix(body).growing).slice(0, -1));
    for (const [index, bytes] of grown.entries())
      if (index > 0) assert.ok(bytes.startsWith(grown[index - 1] ?? ""), `request ${index + 1} alters an earlier one`);
  });
