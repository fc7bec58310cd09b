import assert from "node:assert/strict";
import { test } from "node:test";
import { STREAM_LIMITS } from "@vidro/core";
import { Witnesses } from "./question-witnesses.ts";

const MOST = STREAM_LIMITS.witnesses;

test("a client was shown the runs that it was shown, and no other client was", () => {
  const witnesses = new Witnesses();
  witnesses.show("ana", "run_1");
  assert.deepEqual(
    [witnesses.has("ana", "run_1"), witnesses.has("ana", "run_2"), witnesses.has("bob", "run_1")],
    [true, false, false],
  );
  assert.equal(witnesses.has("", ""), false);
});

test("of more than are kept, the one that was shown its run first is forgotten", () => {
  const witnesses = new Witnesses();
  for (let run = 0; run < MOST; run += 1) witnesses.show("ana", `run_${run}`);
  assert.equal(witnesses.has("ana", "run_0"), true);
  witnesses.show("ana", "one more");
  assert.deepEqual([witnesses.has("ana", "run_0"), witnesses.has("ana", "run_1")], [false, true]);
});

test("a client that is shown its run again costs no other its place, and keeps its own", () => {
  const witnesses = new Witnesses();
  for (let run = 0; run < MOST; run += 1) witnesses.show("ana", `run_${run}`);
  for (let again = 0; again < 10; again += 1) witnesses.show("ana", "run_5");
  assert.equal(witnesses.has("ana", "run_0"), true);
  for (let more = 0; more < MOST - 1; more += 1) witnesses.show("bob", `run_${more}`);
  assert.deepEqual([witnesses.has("ana", "run_5"), witnesses.has("ana", "run_6")], [true, false]);
});
