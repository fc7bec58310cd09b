import assert from "node:assert/strict";
import { test } from "node:test";
import { redactor } from "./redact/redact.ts";
import { extraChars, isWorthKeeping, redactParts, withoutSignatures, wordsAndCalls } from "./reply-parts.ts";
import type { ReplyParts } from "./reply-parts.ts";

const SECRET = "hunter2-hunter2-hunter2";
const cleaner = redactor([SECRET]);
const redact = <T>(value: T): T => cleaner.value(value);
const SIGNED = { anthropic: { signature: "c2ln" } };

function partsOf(...items: ReplyParts["items"]): ReplyParts {
  return { from: "a/b", items };
}

test("text with one call is not worth keeping; thinking, a second call and data of the vendor are", () => {
  const text = { kind: "text", text: "hi" } as const;
  const call = { kind: "call", callId: "1", tool: "t", input: {} } as const;
  assert.equal(isWorthKeeping({ items: [text, call] }), false);
  assert.equal(isWorthKeeping({ items: [call, { ...call, callId: "2" }] }), true);
  assert.equal(isWorthKeeping({ items: [{ kind: "thinking", text: "" }] }), true);
  assert.equal(isWorthKeeping({ items: [{ ...text, opaque: {} }] }), true);
  assert.equal(isWorthKeeping({ items: [text], opaque: { fields: [] } }), true);
});

test("parts without a secret are kept as they are, the very same opaque data included", () => {
  const parts = partsOf({ kind: "thinking", text: "hm", opaque: SIGNED });
  assert.equal(redactParts(parts, redact).items[0], parts.items[0]);
  assert.equal(redactParts(parts, redact).gap, undefined);
});

test("opaque data is not scanned: a signature that looks like a secret stays", () => {
  const opaque = { anthropic: { signature: SECRET, token: "abcdefgh12345678" } };
  assert.deepEqual(redactParts(partsOf({ kind: "thinking", text: "", opaque }), redact).items[0]?.opaque, opaque);
});

test("thinking with a secret is left out whole, and the gap is recorded", () => {
  const text = { kind: "text", text: "done" } as const;
  const clean = redactParts(partsOf({ kind: "thinking", text: `use ${SECRET}`, opaque: SIGNED }, text), redact);
  assert.deepEqual(clean, { from: "a/b", items: [text], gap: true });
});

test("a text or call with a secret loses the secret and the data that was about its words", () => {
  const call = { kind: "call", callId: "1", tool: "t", input: { line: `echo ${SECRET}` }, opaque: SIGNED } as const;
  const [kept] = redactParts(partsOf(call), redact).items;
  assert.equal(kept?.opaque, undefined);
  assert.ok(!JSON.stringify(kept).includes(SECRET));
});

test("data of the whole reply with a secret is left out", () => {
  const parts = { ...partsOf(), opaque: { blocks: [{ text: SECRET }] } };
  assert.deepEqual(redactParts(parts, redact), { from: "a/b", items: [], gap: true });
});

test("without signatures, thinking that was signed is gone and thinking in plain words stays", () => {
  const plain = { kind: "thinking", text: "plain" } as const;
  const call = { kind: "call", callId: "1", tool: "t" } as const;
  const parts = partsOf({ kind: "thinking", text: "", opaque: SIGNED }, plain, { ...call, opaque: SIGNED });
  assert.deepEqual(withoutSignatures(parts).items, [plain, call]);
});

test("another model gets texts and calls alone", () => {
  const parts = {
    ...partsOf({ kind: "thinking", text: "plain" }, { kind: "text", text: "x", opaque: SIGNED }),
    opaque: {},
  };
  assert.deepEqual(wordsAndCalls(parts), { from: "a/b", items: [{ kind: "text", text: "x" }] });
});

test("the size counts thinking and opaque data, not the text that the turn has anyway", () => {
  const parts = partsOf(
    { kind: "thinking", text: "1234" },
    { kind: "text", text: "words", opaque: { v: { s: "12" } } },
  );
  assert.equal(extraChars(parts), 6);
});
