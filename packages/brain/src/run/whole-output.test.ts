import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "@vidro/core";
import type { Action, Event, Hand, ProcessOutcome } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import { entry, startedEvent } from "../stores/journal.fixture.ts";
import { wholeOutputs } from "./whole-output.ts";

const ACTION: Action = { id: "act_1", tool: "shell", input: { command: "x" }, callId: "c" };
const OUTPUT = { text: "", bytes: 9, truncated: true, sha256: "" };
const PROCESS: ProcessOutcome = {
  kind: "process",
  exitCode: 0,
  signal: null,
  timedOut: false,
  durationMs: 1,
  stdout: OUTPUT,
  stderr: OUTPUT,
};

/** Reads whole outputs of a journal with one action, whose hand gives its spool in pieces of this size. */
function outputsOf(spool: Buffer, piece: number, outcome: ProcessOutcome = { ...PROCESS, spool: "s.out" }) {
  const events: readonly Event[] = [
    startedEvent("look"),
    { type: "action.started", action: ACTION, hand: "local", epoch: 1 } as unknown as Event,
    { type: "action.finished", action: ACTION.id, outcome },
  ];
  const entries = events.map((event, index) => entry(index + 1, event));
  const asked: number[] = [];
  const hand = {
    async readSpool(_action: Action, from: number) {
      asked.push(from);
      return { data: spool.subarray(from, from + piece).toString("base64"), bytes: spool.length };
    },
  } as unknown as Hand;
  const journal = { read: async (_run: string, after: number) => entries.slice(after) };
  const read = wholeOutputs({ journal, hand: async () => hand, redactor: redactor(["hunter2hunter2"]) });
  return { read, hand, asked };
}

async function textOf(text: AsyncIterable<string>): Promise<string> {
  return (await Array.fromAsync(text)).join("");
}

test("a whole output is the same however the hand cuts it, characters and secrets between two pieces included", async () => {
  const text = fc.array(fc.constantFrom("ação\n", "hunter2hunter2", "😀", "plain ", "hunter2"), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (words, piece) => {
      const whole = words.join("");
      const { bytes, text: got } = await outputsOf(Buffer.from(whole), piece).read("run", ACTION.id);
      assert.equal(bytes, Buffer.byteLength(whole));
      const joined = await textOf(got);
      assert.equal(joined, redactor(["hunter2hunter2"]).text(whole));
      assert.ok(!joined.includes("hunter2hunter2"));
    }),
  );
});

test("an output that was not cut, an action that has not ended and one of another run are not found", async () => {
  const { read, asked } = outputsOf(Buffer.from("x"), 1, PROCESS);
  await assert.rejects(read("run", ACTION.id), { code: "NOT_FOUND", message: /whole in the journal/ });
  await assert.rejects(read("run", "act_2"), { code: "NOT_FOUND", message: /no action act_2/ });
  assert.deepEqual(asked, [], "no hand is asked");
});

test("a hand that is away is a fault before any text, and one that leaves in the middle cuts the text off", async () => {
  const away = new Fault("HAND_UNAVAILABLE", "The hand web-1 is not connected.").report();
  const gone = outputsOf(Buffer.from("abcdef"), 2);
  Object.assign(gone.hand, { readSpool: async () => away });
  await assert.rejects(gone.read("run", ACTION.id), { code: "HAND_UNAVAILABLE", message: /web-1/ });
  const leaving = outputsOf(Buffer.from("abcdef"), 2);
  const { text } = await leaving.read("run", ACTION.id);
  Object.assign(leaving.hand, { readSpool: async () => away });
  await assert.rejects(textOf(text), { code: "HAND_UNAVAILABLE" });
});

test("a hand that says more than its first size does not go on for ever", async () => {
  const { read, hand } = outputsOf(Buffer.from("abcd"), 2);
  Object.assign(hand, { readSpool: async () => ({ data: Buffer.from("ab").toString("base64"), bytes: 5 }) });
  assert.equal(await textOf((await read("run", ACTION.id)).text), "ababab");
});
