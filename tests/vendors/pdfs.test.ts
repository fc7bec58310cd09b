import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { REDACTED } from "@vidro/core/redact";
import { pdfOf } from "../../packages/core/src/pdf/pdf.fixture.ts";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { bundledCommands } from "../../scripts/test-bundle.js";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { ollama } from "./ollama.ts";
import { responses } from "./responses.ts";
import { ANSWER, fileOf, serveVendor, STEPS } from "./vendor.ts";
import type { Vendor } from "./vendor.ts";

/* A PDF is a file in the words of a vendor that takes PDFs, and its text for every other model: one or the other. */

const PDF_STEP = 2;
const WORDS = "of the second page";
const NO_PDFS = { VIDRO_MODEL_FACTS: JSON.stringify({ "claude-opus-5-5": { images: true, pdfs: false } }) };
const TAKES = { VIDRO_MODEL_FACTS: JSON.stringify({ thinker: { images: true, pdfs: true } }) };

/** A vendor, settings besides its own, and how it has a PDF: undefined for a model that is not known to take any. */
const CASES: readonly { vendor: Vendor; more?: object; shape?: RegExp }[] = [
  {
    vendor: anthropic,
    shape: /\{"type":"document","source":\{"type":"base64","media_type":"application\/pdf","data":"JVBER/,
  },
  { vendor: gemini, shape: /\{"inlineData":\{"mimeType":"application\/pdf","data":"JVBER/ },
  {
    vendor: responses,
    shape: /\{"type":"input_file","filename":"[^"]+","file_data":"data:application\/pdf;base64,JVBER/,
  },
  {
    vendor: compatible("reasoning"),
    more: TAKES,
    shape: /\{"type":"file","file":\{"filename":"[^"]+","file_data":"data:application\/pdf;base64,JVBER/,
  },
  { vendor: anthropic, more: NO_PDFS },
  { vendor: compatible("reasoning_content") },
  { vendor: ollama },
];

/** Lets a model read five files of which one is a PDF; gives the bodies of its requests and the events of the run. */
async function readFiles(t: TestContext, { vendor, more, pdf }: { vendor: Vendor; more: object; pdf: Buffer }) {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  for (let step = 1; step <= STEPS; step++) writeFileSync(join(workspace, fileOf(step)), `content ${step}\n`);
  writeFileSync(join(workspace, fileOf(PDF_STEP)), pdf);
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
  assert.equal(server.bodies.length, STEPS + 1);
  return { bodies: server.bodies, output };
}

for (const { vendor, more = {}, shape } of CASES) {
  const kind = shape === undefined ? "text" : "a file";
  test(`a PDF that a tool reads is ${kind} for the model: ${vendor.name}, ${JSON.stringify(more)}`, async (t) => {
    const pdf = pdfOf("of the first page", WORDS);
    const { bodies, output } = await readFiles(t, { vendor, more, pdf });
    for (const [index, body] of bodies.map((one) => JSON.stringify(one)).entries()) {
      const isThere = index >= PDF_STEP;
      assert.equal(body.includes(pdf.toString("base64")), isThere && shape !== undefined, `request ${index + 1}`);
      assert.equal(shape?.test(body) ?? false, isThere && shape !== undefined, `request ${index + 1}`);
      assert.equal(body.includes(WORDS), isThere && shape === undefined, `request ${index + 1}`);
    }
    assert.ok(output.includes(WORDS), "the journal has the text for people and for other models");
    assert.equal(
      output.includes(pdf.toString("base64")),
      shape !== undefined,
      "a file that no model takes is not kept",
    );
    const grown = bodies.map((body) => JSON.stringify(vendor.prefix(body).growing).slice(0, -1));
    for (const [index, bytes] of grown.entries())
      if (index > 0) assert.ok(bytes.startsWith(grown[index - 1] ?? ""), `request ${index + 1} alters an earlier one`);
  });
}

test("a PDF whose text has a secret is text for every model, with the secret removed", async (t) => {
  const secret = `sk-ant-api03-${"A1b2C3d4".repeat(12)}`;
  const pdf = pdfOf(`the key is ${secret} today`);
  const { bodies, output } = await readFiles(t, { vendor: anthropic, more: {}, pdf });
  const sent = JSON.stringify(bodies);
  assert.ok(sent.includes(`the key is ${REDACTED} today`), sent.slice(-2000));
  for (const text of [sent, output]) {
    assert.ok(!text.includes(secret));
    assert.ok(!text.includes(pdf.toString("base64")));
  }
});

for (const { vendor, more = {}, shape } of CASES.filter((one) =>
  [anthropic, gemini, responses, ollama].includes(one.vendor),
))
  test(`a PDF in a message of a chat, and beside a task, is ${shape === undefined ? "text" : "a file"} for the model: ${vendor.name}, ${JSON.stringify(more)}`, async (t) => {
    await using things = new AsyncDisposableStack();
    const server = await serveVendor(vendor);
    t.after(() => server.close());
    const stage = things.use(await Stage.set({ VIDRO_MODEL: undefined, ...server.env, ...more }));
    for (let step = 1; step <= STEPS; step++) writeFileSync(join(stage.workspace, fileOf(step)), `content ${step}\n`);
    const daemon = things.use(await DaemonProcess.up(stage, { flags: ["--southbound-port", "0"] }));
    const pdf = pdfOf("of the first page", WORDS);
    const file = { filename: "report.pdf", file_data: `data:application/pdf;base64,${pdf.toString("base64")}` };
    const content = [
      { type: "text", text: "Sum it up." },
      { type: "file", file },
    ];
    const body = JSON.stringify({ messages: [{ role: "user", content }] });
    const answer = await daemon.ask("/v1/chat/completions", { method: "POST", body });
    assert.match(await answer.text(), new RegExp(ANSWER));
    const files = [{ mediaType: "application/pdf", data: pdf.toString("base64"), name: "report.pdf" }];
    const start = { method: "POST", body: JSON.stringify({ task: "Sum it up.", files }) };
    const { id } = (await (await daemon.ask("/v1/runs", start)).json()) as { id: string };
    await until("the run is over", async () =>
      /"status":"finished"/.test(await (await daemon.ask(`/v1/runs/${id}`)).text()),
    );
    assert.equal(server.bodies.length, 2 * (STEPS + 1));
    assert.deepEqual(server.refusals, []);
    for (const sent of server.bodies.map((one) => JSON.stringify(one))) {
      assert.equal(shape?.test(sent) ?? false, shape !== undefined);
      assert.equal(sent.includes(WORDS), shape === undefined);
      assert.equal(sent.includes("[report.pdf is shown as a file.]"), shape !== undefined);
    }
  });
