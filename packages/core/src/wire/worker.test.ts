import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../fault.ts";
import type { Json } from "../json.ts";
import { readWorkerRequest } from "./worker.ts";
import { workerLineDecoder } from "./worker-lines.ts";
import type { WorkerLine } from "./worker-lines.ts";

const session_id = "s-1";
const NONE = { stop: [], tools: [], isToolRequired: false };

function linesOf(bytes: Uint8Array, cuts: readonly number[] = []): readonly WorkerLine[] {
  const decoder = workerLineDecoder();
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
  const lines = places.flatMap((at, index) => decoder.push(bytes.subarray(at, places[index + 1] ?? at)));
  const last = decoder.end();
  return last === undefined ? lines : [...lines, last];
}

function refusal(line: Json): string {
  try {
    readWorkerRequest(line);
  } catch (thrown) {
    assert.ok(thrown instanceof Fault);
    return thrown.message;
  }
  return "";
}

test("000-11 numbers of a session are clamped to their ranges, not refused", () => {
  const params = { temperature: 9, top_p: -1, max_tokens: 1e9, repeat_penalty: 0, unknown: { any: 1 } };
  assert.deepEqual(readWorkerRequest({ type: "create_session", params }), {
    type: "create_session",
    params: { ...NONE, temperature: 2, topP: 0, maxTokens: 4096, repeatPenalty: 0.5 },
  });
  assert.match(refusal({ type: "create_session", params: { temperature: "hot" } }), /temperature must be a number/);
});

test("000-21 each request has its required fields, in the message or in the params of an envelope", () => {
  assert.match(refusal({ type: "create_session" }), /params/);
  assert.match(refusal({ type: "generate", prompt: "x" }), /session_id/);
  assert.match(refusal({ type: "generate", session_id }), /prompt/);
  for (const type of ["abort", "close_session"]) assert.match(refusal({ type }), /session_id/);
  assert.equal(refusal({ type: "sing" }), "unknown_type");
  assert.equal(refusal({}), "unknown_type");
  assert.match(refusal([1]), /one JSON object/);
  assert.deepEqual(readWorkerRequest({ id: 7, method: "generate", params: { session_id, prompt: "x" } }), {
    id: 7,
    type: "generate",
    session: "s-1",
    prompt: "x",
    stream: true,
  });
  assert.deepEqual(readWorkerRequest({ method: "create_session", params: {}, timestamp: "now" }), {
    type: "create_session",
    params: NONE,
  });
});

test("000-18 a line that is no message of the wire is text of the model, with its white space", () => {
  const text = '  two\n\n{"type":"shell","command":"ls"}\n{"broken\n{"type":"token","text":" x"}\n{"type":"stop"}\n';
  assert.deepEqual(linesOf(new TextEncoder().encode(text)), [
    { type: "token", text: "  two" },
    { type: "token", text: "\n" },
    { type: "token", text: '\n{"type":"shell","command":"ls"}\n' },
    { type: "token", text: '{"broken' },
    { type: "token", text: " x" },
    { type: "stop", fields: { type: "stop" } },
  ]);
});

test("000-10 lines are the same however their bytes are cut, within a character too", () => {
  const bytes = new TextEncoder().encode('{"type":"token","text":"é漢🪟"}\nação 🪟\n{"type":"stop"}');
  const whole = linesOf(bytes);
  assert.equal(whole.length, 3);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
      assert.deepEqual(linesOf(bytes, cuts), whole);
    }),
  );
});

test("000-20 errors of both forms are read, a line without end or UTF-8 is refused", () => {
  const read = (line: string): WorkerLine | undefined => linesOf(new TextEncoder().encode(line))[0];
  assert.deepEqual(read('{"type":"error","message":"no"}'), { type: "error", message: "no" });
  assert.deepEqual(read('{"ok":false,"error":"no"}'), { type: "error", message: "no" });
  assert.deepEqual(read('{"type":"error"}'), { type: "error", message: "no reason was given" });
  assert.throws(() => workerLineDecoder(8).push(new Uint8Array(9)), /more than 8 bytes/);
  assert.throws(() => linesOf(Uint8Array.of(0xff, 0x0a)), /not UTF-8/);
});
