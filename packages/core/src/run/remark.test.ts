import assert from "node:assert/strict";
import { test } from "node:test";
import type { RemarkMade } from "../event.ts";
import { RUN_LIMITS } from "../limits.ts";
import { acceptRemark, isTask, tellRemarks } from "./remark.ts";
import { NO_TURNS, turnsOf } from "./turns.ts";

const remark = (id: string, text = "use the other disk"): RemarkMade => ({ type: "remark.made", id, text, by: "ana" });
const AT_WORK = { name: "ready" };

test("a remark is told once, as the words of a person that are no task", () => {
  const heard = { turns: NO_TURNS, remarks: [remark("1"), remark("2", "stop")], toldRemarks: 0 };
  const told = { ...heard, ...tellRemarks(heard) };
  assert.deepEqual(
    turnsOf(told.turns).map(({ text }) => text),
    ["[ana says while you work]\nuse the other disk", "[ana says while you work]\nstop"],
  );
  assert.ok(turnsOf(told.turns).every((turn) => !isTask(turn)));
  assert.deepEqual(tellRemarks(told), {});
  const later = { ...told, remarks: [...told.remarks, remark("3")] };
  assert.equal(tellRemarks(later).turns?.length, 3);
});

test("the same key and words again are the same remark; other words under it are a conflict", () => {
  const state = { remarks: [remark("1")], phase: AT_WORK };
  assert.equal(acceptRemark(state, remark("1")), undefined);
  assert.throws(() => acceptRemark(state, remark("1", "other")), { code: "CONFLICT", message: /new key/ });
  assert.deepEqual(acceptRemark(state, remark("2")), remark("2"));
});

test("a run that is over takes no remark, but knows the ones that it took", () => {
  const over = { remarks: [remark("1")], phase: { name: "ended" } };
  assert.equal(acceptRemark(over, remark("1")), undefined);
  assert.throws(() => acceptRemark(over, remark("2")), { code: "CONFLICT", message: /over/ });
});

test("a run takes a bounded number of remarks and says what to do then", () => {
  const remarks = Array.from({ length: RUN_LIMITS.remarks }, (_, at) => remark(String(at)));
  assert.throws(() => acceptRemark({ remarks, phase: AT_WORK }, remark("x")), { code: "CONFLICT", message: /Wait/ });
});

test("words of a person are a task, and those of the model and of tools are none", () => {
  assert.equal(isTask({ role: "user", text: "a" }), true);
  assert.equal(isTask({ role: "assistant", text: "a" }), false);
});
