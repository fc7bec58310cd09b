import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FILE_LIMITS, PDF_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { pdfOf } from "../../packages/core/src/pdf/pdf.fixture.ts";
import { TOOLS } from "../../packages/hands/src/tools/tools.ts";
import { text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import { IN_PROCESS_LINKS } from "../support/in-process-links.ts";

/* PDFs that a person attaches to a message: their text is a part of the task, for every model. */

const addressOf = (bytes: Buffer): string => `data:application/pdf;base64,${bytes.toString("base64")}`;
const ask = (file: JsonObject): JsonObject => ({
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "sum it up" },
        { type: "file", file },
      ],
    },
  ],
});

test("the text of a PDF in a chat message and in a response is a part of the task", async (t) => {
  const brain = await startFrontEndServer(t, text("Short."), text("Shorter."));
  const file = { filename: "report.pdf", file_data: addressOf(pdfOf("profit rose", "costs fell")) };
  const { json } = await brain.ask("POST", "/chat/completions", { body: ask(file) });
  assert.match(JSON.stringify(json), /Short\./);
  const [head] = await brain.runs.list({ limit: 1 });
  const [first] = await brain.runs.read(head!.id, 0, 1);
  assert.ok(first?.event.type === "run.started");
  const task =
    "sum it up\n\n--- report.pdf ---\n[page 1]\nprofit rose\n\n[page 2]\ncosts fell\n--- end of report.pdf ---";
  assert.equal(first.event.task.trim(), task);
  assert.equal(first.event.files, undefined, "a model that takes no PDFs needs no file");
  const content = [
    { type: "input_text", text: "again" },
    { type: "input_file", ...file },
  ];
  const response = await brain.ask("POST", "/responses", { body: { input: [{ role: "user", content }] } });
  assert.match(JSON.stringify(response.json), /Shorter/);
  assert.match(JSON.stringify(brain.fake.requests[1]?.body), /report\.pdf ---.*costs fell/);
});

test("a long PDF in a chat message is cut, and says so", async (t) => {
  const brain = await startFrontEndServer(t, text("Long."));
  const long = pdfOf("word ".repeat(PDF_LIMITS.attachedChars / 4));
  const { status } = await brain.ask("POST", "/chat/completions", { body: ask({ file_data: addressOf(long) }) });
  assert.equal(status, 200);
  assert.match(JSON.stringify(brain.fake.requests[0]?.body), /\[cut off after 131072 of \d+ characters\]/);
});

test("a file that is no PDF, has no text or would have to be fetched is refused with the reason", async (t) => {
  const brain = await startFrontEndServer(t, text("never"));
  const encrypted = Buffer.concat([pdfOf("secret"), Buffer.from("trailer << /Encrypt 9 0 R >>")]);
  const cases: readonly (readonly [JsonObject, RegExp])[] = [
    [{ file_data: "https://example.com/a.pdf" }, /data: address/],
    [{ file_id: "file-1" }, /data: address/],
    [{ file_data: addressOf(Buffer.from("words")), filename: "a.txt" }, /a\.txt is no PDF/],
    [{ file_data: addressOf(encrypted) }, /it is encrypted/],
    [{ file_data: addressOf(Buffer.from("%PDF-1.7")) }, /no page/],
  ];
  for (const [file, why] of cases) {
    const { status, json } = await brain.ask("POST", "/chat/completions", { body: ask(file) });
    assert.equal(status, 422, JSON.stringify(json));
    assert.match(JSON.stringify(json), why);
  }
  assert.equal(brain.fake.requests.length, 0);
});

for (const [name, connect] of Object.entries(IN_PROCESS_LINKS))
  test(`a PDF that a hand reads comes over ${name} with its text, which stays whole where the file is too large`, async (t) => {
    const { hand } = await connect(t, async ({ port }) => port, TOOLS);
    mkdirSync(hand.workspace, { recursive: true });
    const heavy = Buffer.concat([pdfOf("profit rose"), Buffer.alloc(FILE_LIMITS.pdfBytes - 2000, "%")]);
    for (const [id, bytes] of Object.entries({ act_small: pdfOf("profit rose"), act_heavy: heavy })) {
      writeFileSync(join(hand.workspace, "a.pdf"), bytes);
      const action = { id, tool: "read_file", input: { file_path: "a.pdf" }, callId: "c" };
      const order = { action, run: "run_1", epoch: 1, ttlMs: 60_000 };
      const [ended] = await Array.fromAsync(hand.perform(order, new AbortController().signal));
      assert.ok(ended?.type === "finished" && ended.outcome.kind === "value", JSON.stringify(ended));
      const { text: words, files } = ended.outcome;
      assert.equal(words, "[page 1]\nprofit rose", id);
      if (id === "act_small" || files !== undefined) assert.equal(files?.[0]?.data, bytes.toString("base64"), id);
    }
  });
