import assert from "node:assert/strict";
import { test } from "node:test";
import type { Turn } from "../event.ts";
import { MODEL_LIMITS } from "../limits.ts";
import { extendHistory, historyRoom, squeezeStart } from "./history.ts";
import { listOf } from "./turns.ts";
import { started } from "./walk.fixture.ts";

const SIGNATURE = { anthropic: { signature: "c2lnbmVk" } };

/** The turns of a run with one call, whose reply has signed thinking. */
function ended(name: string, output: string): readonly Turn[] {
  const callId = `call-${name}`;
  const action = { id: `act-${name}`, tool: "read_file", input: { file_path: name }, callId };
  const items = [
    { kind: "thinking", text: "hm", opaque: SIGNATURE },
    { kind: "call", callId, tool: "read_file" },
  ] as const;
  return [
    { role: "user", text: `task ${name}` },
    { role: "assistant", text: "", action, parts: { from: "m", items } },
    { role: "tool", callId, tool: "read_file", text: output, failed: false },
    { role: "assistant", text: `answer ${name}` },
  ];
}

const ROOM = { chars: 4000, keepsSignatures: true };
const signatures = (turns: readonly Turn[]): number =>
  JSON.stringify(turns).split(SIGNATURE.anthropic.signature).length - 1;

test("a history that fits only grows at its end, with every part as it was", () => {
  const first = extendHistory([], ended("a", "one"), ROOM);
  const second = extendHistory(first, ended("b", "two"), ROOM);
  assert.deepEqual(second, [...ended("a", "one"), ...ended("b", "two")]);
  assert.equal(signatures(second), 2);
});

test("signatures are left out of a history whose prompt is not that of the new run", () => {
  const turns = extendHistory([], ended("a", "one"), { ...ROOM, keepsSignatures: false });
  assert.equal(signatures(turns), 0);
  assert.equal(turns.find(({ role }) => role === "tool")?.text, "one");
});

test("over its bound the newest run stays whole, older output is cut, and no call is without its result", () => {
  const old = ["a", "b", "c"].flatMap((name) => ended(name, name.repeat(1200)));
  const turns = extendHistory(old, ended("d", "d".repeat(1200)), ROOM);
  assert.ok(listOf(turns).chars <= ROOM.chars / 2);
  assert.ok(turns.some(({ role, text }) => role === "tool" && text === "d".repeat(1200)));
  assert.equal(signatures(turns), 0);
  const called = turns.flatMap((turn) => (turn.role === "assistant" && turn.action ? [turn.action.callId] : []));
  const answered = turns.flatMap((turn) => (turn.role === "tool" ? [turn.callId] : []));
  assert.deepEqual(called, answered);
  assert.equal(turns[0]?.role, "user");
  const next = extendHistory(turns, ended("e", "short"), ROOM);
  assert.deepEqual(next.slice(0, turns.length), turns, "the next run appends to it");
});

test("a run that is larger than the bound alone keeps its task and its end", () => {
  const turns = extendHistory(ended("a", "x"), [...ended("b", "y"), { role: "user", text: "z".repeat(9000) }], ROOM);
  assert.ok(listOf(turns).chars <= ROOM.chars);
  assert.ok(turns.some(({ text }) => text === "task b"));
});

test("the bound follows the model's window and has a most", () => {
  assert.equal(historyRoom(undefined), MODEL_LIMITS.historyChars);
  assert.equal(historyRoom(1_000_000), MODEL_LIMITS.historyChars);
  assert.ok(historyRoom(8000) < 8000);
});

test("a window without room for a history makes it shorter each time", () => {
  const whole = [...ended("a", "x".repeat(2000)), ...ended("b", "y".repeat(2000))];
  const sizes = [1, 2, 3].map(
    (times) => listOf(squeezeStart({ started: started(), history: whole }, times).history).chars,
  );
  assert.ok(listOf(whole).chars > sizes[0]! && sizes[0]! > sizes[1]! && sizes[2] === 0);
});

test("a window without room for the project's guides gets none of them, and keeps the other facts", () => {
  const facts = { date: "2026-11-18", guides: [{ path: "AGENTS.md", text: "Use tabs." }] };
  const begun = { started: started({ facts }), history: [] };
  const left = [1, 2, 3].map((times) => squeezeStart(begun, times).started.facts);
  assert.deepEqual(left, [facts, { date: facts.date }, { date: facts.date }]);
});
