import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, Event } from "@vidro/core";
import { Chunks } from "./chunks.ts";

const ANSWERING = { run: "run_1", after: 0, form: "tools", model: "bunny", at: 1_700_000_000_000 } as const;
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

test("words that never came live are told when the reply is known, and an answer of its own comes apart", () => {
  const chunks = new Chunks(ANSWERING, false);
  assert.equal(said(chunks.live(delta("I"))), "I");
  assert.equal(said(chunks.entry(entry(2, replied("I look.")))), " look.");
  assert.equal(said(chunks.entry(entry(3, finished("Found.")))), "\n\nFound.");
  assert.equal(chunks.endedAt, 3);
});

test("a reply that failed half way is voided, and the next one stands apart from it", () => {
  const chunks = new Chunks(ANSWERING, false);
  assert.equal(said(chunks.live(delta("Half an"))), "Half an");
  const fault = { code: "MODEL_CUT", message: "cut" } as const;
  const failed = entry(2, { type: "model.failed", attempt: 1, fault });
  assert.match(chunks.entry(failed) ?? "", /"content":"\\n\\n"[^]*"delta":\{\}[^]*"voided":9\}/);
  assert.equal(said(chunks.live(delta("A whole"))), "A whole");
  assert.equal(new Chunks(ANSWERING, false).entry(failed), undefined);
});

test("a follower that lost words gets the reply again, whole, and its tokens are counted once", () => {
  const chunks = new Chunks(ANSWERING, true);
  chunks.live(delta("One "));
  chunks.live(delta("two"));
  chunks.entry(entry(2, replied("One two")));
  chunks.again();
  assert.equal(chunks.live(delta(" three")), undefined);
  assert.equal(said(chunks.entry(entry(2, replied("One two")))), "\n\nOne two");
  assert.match(chunks.entry(entry(3, finished("One two"))) ?? "", /"total_tokens":3\}\}\n\ndata: \[DONE\]\n\n$/);
});

test("a stopped run ends the stream with an error and without the mark of an end", () => {
  const chunks = new Chunks(ANSWERING, false);
  const last = chunks.entry(entry(2, { type: "run.aborted", reason: "Stopped by ana." })) ?? "";
  assert.match(last, /^data: \{"error":\{"message":"The run was stopped: Stopped by ana\."/);
  assert.doesNotMatch(last, /DONE/);
  assert.equal(chunks.endedAt, 2);
});
