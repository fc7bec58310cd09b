import assert from "node:assert/strict";
import { test } from "node:test";
import { RECORD_LIMITS, RUN_LIMITS } from "@vidro/core";
import type { Event, JsonObject, RunStatus } from "@vidro/core";
import { entries, entry, startedEvent } from "./journal.fixture.ts";
import { thisHolder } from "./lease-holder.ts";
import { recordBody, recordText, refuseUnlessVersion } from "./record-rules.ts";
import { advance, isOpen, isUndriven, openingOf, refuseUnlessFree, statusAfter, termEnd } from "./run-rules.ts";

const NOW = 1_000_000;
const FAULT = { code: "TOOL_FAILED", message: "no" } as const;
const OTHER = { ...thisHolder(), host: "elsewhere" };

test("a run is open until one of its three ends, and nothing reopens it", () => {
  const ends: readonly (readonly [Event, RunStatus])[] = [
    [{ type: "run.failed", fault: FAULT }, "failed"],
    [{ type: "run.aborted", reason: "stopped" }, "aborted"],
    [{ type: "run.finished", result: "done" }, "finished"],
  ];
  for (const [event, status] of ends) {
    assert.equal(advance("r", { seq: 0, status: "running" }, [entry(1, event)]), status);
    assert.ok(!isOpen(status));
    const more = [entry(1, event), entry(2)];
    assert.throws(() => advance("r", { seq: 0, status: "running" }, more), { code: "CONFLICT", message: /has ended/ });
  }
  assert.ok(isOpen("running") && isOpen("asking"));
});

test("a question waits for its answer, or for the hand's own word about the action", () => {
  const asked = { type: "question.asked" } as Event;
  assert.equal(statusAfter("running", asked), "asking");
  for (const type of ["question.answered", "action.finished", "action.failed"])
    assert.equal(statusAfter("asking", { type } as Event), "running", type);
  assert.equal(statusAfter("asking", { type: "note.observed", note: "n" }), "asking");
  assert.equal(statusAfter("asking", { type: "action.unknown" } as Event), "asking");
});

test("entries follow each other without a gap, a repetition or a step back", () => {
  const from = { seq: 4, status: "running" } as const;
  assert.equal(advance("r", from, entries(5, 9)), "running");
  assert.equal(advance("r", from, []), "running");
  for (const wrong of [entries(4, 5), entries(6, 7), [entry(5), entry(7)], [entry(5), entry(5)], [entry(6), entry(5)]])
    assert.throws(() => advance("r", from, wrong), { code: "CONFLICT", message: /entry (?:5|6), not/ });
});

test("a run begins with an entry; its task is that of run.started", () => {
  assert.throws(() => openingOf("r", []), { code: "CONFLICT" });
  assert.equal(openingOf("r", [entry(1, startedEvent("look"))]).task, "look");
  assert.equal(openingOf("r", [entry(1)]).task, "");
});

test("a lease keeps others out until it ends, to the millisecond, and never its own holder", () => {
  const until = termEnd(NOW);
  assert.equal(until, NOW + RUN_LIMITS.leaseMs);
  const term = { holder: OTHER, until };
  const asker = thisHolder();
  assert.throws(() => refuseUnlessFree("r", term, { asker, now: until - 1 }), {
    code: "RUN_BUSY",
    message: /elsewhere/,
  });
  assert.doesNotThrow(() => refuseUnlessFree("r", term, { asker, now: until }));
  assert.doesNotThrow(() => refuseUnlessFree("r", term, { asker: OTHER, now: NOW }));
  assert.doesNotThrow(() => refuseUnlessFree("r", { holder: undefined, until }, { asker, now: NOW }));
  assert.ok(!isUndriven(term, until - 1));
  assert.ok(isUndriven(term, until));
  assert.ok(isUndriven({ holder: undefined, until }, NOW));
});

test("the lease of a process that is certainly dead can be taken by another process", () => {
  const dead = { ...thisHolder(), pid: 2 ** 22 + 1 };
  const term = { holder: dead, until: NOW + 1 };
  assert.ok(isUndriven(term, NOW));
  assert.doesNotThrow(() => refuseUnlessFree("r", term, { asker: thisHolder(), now: NOW }));
});

test("a record is kept up to its bound in bytes, and not one byte more", () => {
  const record = (text: string): { kind: string; id: string; owner: string; body: JsonObject } => {
    return { kind: "k", id: "i", owner: "o", body: { text } };
  };
  const room = RECORD_LIMITS.bodyBytes - Buffer.byteLength(JSON.stringify({ text: "" }));
  const kept = recordText(record("x".repeat(room)));
  assert.deepEqual(recordBody(kept), { text: "x".repeat(room) });
  assert.throws(() => recordText(record("x".repeat(room + 1))), { code: "PAYLOAD_TOO_LARGE", message: /The k i/ });
  // A character of two bytes counts as two.
  assert.throws(() => recordText(record("é".repeat(room / 2 + 1))), { code: "PAYLOAD_TOO_LARGE" });
});

test("names of a record are bounded", () => {
  const record = { kind: "k", id: "i", owner: "o", body: {} };
  const long = "x".repeat(RECORD_LIMITS.nameChars + 1);
  for (const name of ["kind", "id", "owner"]) {
    assert.throws(() => recordText({ ...record, [name]: long }), {
      code: "PAYLOAD_TOO_LARGE",
      message: new RegExp(name),
    });
    assert.equal(recordText({ ...record, [name]: long.slice(1) }), "{}");
  }
});

test("a change is for the version that the caller read; 0 means that there is none", () => {
  const record = { kind: "k", id: "i", owner: "o", body: {} };
  for (const [found, expected] of [
    [3, undefined],
    [3, 3],
    [0, 0],
    [0, undefined],
  ] as const)
    assert.doesNotThrow(() => refuseUnlessVersion(record, found, expected));
  for (const [found, expected] of [
    [3, 2],
    [0, 1],
    [1, 0],
  ] as const)
    assert.throws(() => refuseUnlessVersion(record, found, expected), {
      code: "CONFLICT",
      detail: { found, expected },
    });
});
