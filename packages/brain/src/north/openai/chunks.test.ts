import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Event } from "@vidro/core";
import { ChunkEncoder } from "./chunks.ts";

const ANSWERING = {
  run: "run_1",
  after: 0,
  form: "tools",
  includeReasoning: false,
  tools: [],
  model: "bunny",
  at: 1_700_000_000_000,
} as const;
const replied = (text: string): Event => ({
  type: "model.replied",
  model: "m",
  text,
  usage: { inputTokens: 2, outputTokens: 1 },
});
const entry = (seq: number, event: Event): Entry => ({ seq, at: 0, event });
const finished = (result: string): Event => ({ type: "run.finished", result });

/** The words in a piece of the stream. */
function said(piece: string | undefined): string {
  const events = (piece ?? "").split("\n\n").filter((each) => each !== "" && !each.endsWith("[DONE]"));
  return events
    .map((each) => JSON.parse(each.slice("data: ".length)) as { choices: { delta: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta.content ?? "")
    .join("");
}

const delta = (text: string, from = 0) => ({ type: "model.delta", text, from }) as const;
const PLAIN = { includeUsage: false, includeVoided: false };
const failed = (seq: number): Entry =>
  entry(seq, { type: "model.failed", attempt: 1, fault: { code: "MODEL_CUT", message: "cut" } });

test("words that never came live are told when the reply is known, and an answer of its own comes apart", () => {
  const chunks = new ChunkEncoder(ANSWERING, PLAIN);
  assert.equal(said(chunks.live(delta("I"))), "I");
  assert.equal(said(chunks.entry(entry(2, replied("I look.")))), " look.");
  assert.equal(said(chunks.entry(entry(3, finished("Found.")))), "\n\nFound.");
  assert.equal(chunks.isEnded, true);
});

test("words behind lost ones wait for the reply, and none is told twice", () => {
  const chunks = new ChunkEncoder(ANSWERING, PLAIN);
  assert.equal(said(chunks.live(delta("One"))), "One");
  assert.equal(chunks.live(delta(" three", 7)), undefined);
  assert.equal(said(chunks.entry(entry(2, replied("One two three four")))), " two three four");
  assert.equal(said(chunks.live(delta("Five"))), "\n\nFive");
  const other = new ChunkEncoder(ANSWERING, PLAIN);
  assert.equal(other.live(delta("middle", 4)), undefined, "who comes late has not seen the beginning");
  assert.equal(said(other.entry(entry(2, replied("The middle")))), "The middle");
});

test("a reply that broke off and begins anew in the same words goes on where the client is", () => {
  const chunks = new ChunkEncoder(ANSWERING, PLAIN);
  chunks.entry(entry(2, replied("I look.")));
  assert.equal(said(chunks.live(delta("The disk"))), "\n\nThe disk");
  assert.equal(chunks.entry(failed(3)), undefined);
  assert.equal(chunks.live(delta("The")), undefined);
  assert.equal(said(chunks.live(delta(" disk is", 3))), " is");
  assert.equal(said(chunks.entry(entry(4, replied("The disk is full.")))), " full.");
  assert.match(chunks.entry(entry(5, finished("The disk is full."))) ?? "", /"finish_reason":"stop"/);
});

test("one that begins anew in other words ends the stream with an error, and nothing is told after it", () => {
  const chunks = new ChunkEncoder(ANSWERING, PLAIN);
  chunks.live(delta("Half an"));
  assert.equal(chunks.entry(failed(2)), undefined);
  const last = chunks.live(delta("Ha! Other")) ?? "";
  assert.match(
    last,
    /^data: \{"error":\{"message":"A reply broke off[^"]*run_1[^"]*","type":"server_error"[^]*MODEL_CUT/,
  );
  assert.doesNotMatch(last, /DONE/);
  assert.equal(chunks.isEnded, true);
  assert.equal(chunks.live(delta(" words", 9)), undefined);
  assert.equal(chunks.entry(entry(3, replied("Ha! Other words"))), undefined);
});

test("words that are never said again are an error at the end, too", () => {
  const chunks = new ChunkEncoder(ANSWERING, PLAIN);
  chunks.live(delta("Half an"));
  chunks.entry(failed(2));
  chunks.entry(entry(3, replied("Half")));
  assert.match(chunks.entry(entry(4, finished("Half"))) ?? "", /MODEL_CUT/);
});

test("a client that takes words back is told how many", () => {
  const chunks = new ChunkEncoder(ANSWERING, { ...PLAIN, includeVoided: true });
  chunks.live(delta("Half an"));
  chunks.entry(failed(2));
  const anew = chunks.live(delta("Ha! Other")) ?? "";
  assert.match(anew, /"delta":\{\}[^]*"voided":5\}/);
  assert.equal(said(anew), "! Other");
  chunks.entry(entry(3, replied("Ha! Other")));
  assert.match(chunks.entry(entry(4, finished("Ha! Other"))) ?? "", /DONE/);
});

test("a stopped run ends the stream with an error and without the mark of an end", () => {
  const chunks = new ChunkEncoder(ANSWERING, PLAIN);
  const last = chunks.entry(entry(2, { type: "run.aborted", reason: "Stopped by ana." })) ?? "";
  assert.match(last, /^data: \{"error":\{"message":"The run was stopped: Stopped by ana\."/);
  assert.doesNotMatch(last, /DONE/);
  assert.equal(chunks.isEnded, true);
});
