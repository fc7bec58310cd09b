import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { calls, cutAfter, text } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";

/* What a model writes: prose where it calls tools natively, lines for the brain where it cannot. */

const EXAMPLE =
  'Write it like this:\n```json\n{"type":"shell","command":"touch made"}\n```\n{"type":"done","result":"x"}';

function say(brain: FrontEndServer, content: string, more: JsonObject = {}): ReturnType<FrontEndServer["ask"]> {
  return brain.ask("POST", "/chat/completions", { body: { messages: [{ role: "user", content }], ...more } });
}

test("000-38 JSON in the words of a model that calls tools natively is prose: nothing is run, and the answer is whole", async (t) => {
  const brain = await startFrontEndServer(
    t,
    calls({ id: "m1", name: "working_directory", input: "{}" }),
    text(EXAMPLE),
  );
  const { json } = await say(brain, "how do I write it?");
  const { choices } = json as { choices: readonly { message: { content: string } }[] };
  assert.equal(choices[0]?.message.content, EXAMPLE);
  assert.equal(existsSync(join(brain.workspace, "made")), false);
  assert.equal(brain.fake.requests.length, 2);
});

test("000-38 a model that only writes sees its own plan and its own question in its next prompt", async (t) => {
  const ask = '{"type":"ask","question":"Which disk?","options":["a","b"]}';
  const brain = await startFrontEndServer(
    t,
    text('{"type":"plan","steps":["look at the disk"]}'),
    text(ask),
    text("Disk a is full."),
  );
  const asked = await say(brain, "is it full?");
  assert.match(asked.text, /Which disk\?/);
  const [head] = await brain.runs.list({ limit: 1 });
  await brain.runs.answer(head!.id, { text: "a", by: "me" });
  await Array.fromAsync(brain.runs.follow(head!.id));
  const told = (request: number): string => JSON.stringify(brain.fake.requests[request]?.body["messages"]);
  assert.match(told(1), /look at the disk/);
  assert.match(told(2), /look at the disk.*Which disk\?.*"a"/);
});

/** What a reader has at the end who takes back what is voided. */
function kept(stream: string): string {
  let words = "";
  for (const [, json = ""] of stream.matchAll(/^data: (\{.*\})$/gm)) {
    const { choices, voided } = JSON.parse(json) as {
      choices: readonly { delta: { content?: string } }[];
      voided?: number;
    };
    words += choices[0]?.delta.content ?? "";
    if (voided !== undefined) words = words.slice(0, words.length - voided);
  }
  return words;
}

test("a client that says it takes words back is told how many of a reply that broke off, and keeps the stored answer", async (t) => {
  const brain = await startFrontEndServer(t, cutAfter("Half ", "an ans"), text("The whole ", "answer."));
  const { text: stream } = await say(brain, "tell me", { stream: true, stream_options: { include_voided: true } });
  assert.match(stream, /Half/);
  assert.equal(kept(stream), "The whole answer.");
  const [head] = await brain.runs.list({ limit: 1 });
  const entries = await brain.journal.read(head!.id, 0, 100);
  const end = entries.at(-1)?.event;
  assert.ok(end?.type === "run.finished" && end.result === "The whole answer.");
});
