import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MODEL_LIMITS } from "../limits.ts";
import { compactionTarget, isCompactionDue, roomAfterOverflow, roomAfterReply, roomAtStart } from "./context-room.ts";
import { listOf } from "./turns.ts";
import { started } from "./walk.fixture.ts";

const turns = (count: number, chars: number) =>
  listOf(Array.from({ length: count }, () => ({ role: "user", text: "x".repeat(chars) }) as const));
const usage = (inputTokens: number) => ({ inputTokens, outputTokens: 1 });

test("without a window the bound is in characters; with one it is its share of the prompt", () => {
  assert.equal(roomAtStart(started()).mostChars, MODEL_LIMITS.contextChars);
  const { mostChars, fixedChars } = roomAtStart(started({ window: 100_000 }));
  assert.equal(mostChars, Math.floor(100_000 * MODEL_LIMITS.promptShare * MODEL_LIMITS.charsPerToken - fixedChars));
  assert.equal(roomAtStart(started({ window: 600 })).mostChars, MODEL_LIMITS.leastContextChars);
});

test("what the server counts corrects the estimate of characters for a token", () => {
  const room = roomAtStart(started({ window: 100_000 }));
  const dense = roomAfterReply(room, turns(10, 1000), { window: undefined, usage: usage(5000) });
  const light = roomAfterReply(room, turns(10, 1000), { window: undefined, usage: usage(1000) });
  assert.ok(dense.mostChars < light.mostChars, "more tokens for the same text leave less room");
  assert.deepEqual(
    roomAfterReply(room, turns(1, 10), { window: undefined, usage: usage(MODEL_LIMITS.countedTokens - 1) }),
    room,
    "a short prompt says little about the ratio",
  );
});

test("a window that the server names on the way replaces the one of the start", () => {
  const room = roomAfterReply(roomAtStart(started()), turns(1, 10), { window: 8192, usage: usage(10) });
  assert.equal(room.window, 8192);
  assert.ok(room.mostChars < MODEL_LIMITS.contextChars);
});

test("each overflow leaves less room, down to the least, and asks for a compaction", () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(2000), fc.integer({ min: 1, max: 6 }), (count, chars, overflows) => {
      let room = roomAtStart(started());
      const list = turns(count, chars);
      for (let each = 1; each <= overflows; each += 1) {
        const next = roomAfterOverflow(room, list);
        assert.ok(next.mostChars <= Math.max(room.mostChars, MODEL_LIMITS.leastContextChars));
        assert.ok(next.mostChars >= MODEL_LIMITS.leastContextChars);
        assert.deepEqual([next.squeezes, next.isDue, isCompactionDue(next, list)], [each, true, true]);
        const { fresh, chars: target } = compactionTarget(next, list);
        assert.equal(fresh, MODEL_LIMITS.squeezedFreshTurns[each - 1] ?? 0);
        assert.ok(target <= list.chars * MODEL_LIMITS.squeezedShare);
        room = next;
      }
      assert.equal(roomAfterReply(room, list, { window: undefined, usage: usage(1) }).squeezes, 0);
    }),
  );
});

test("a conversation is compacted when it is too long and has turns that are not fresh", () => {
  const room = roomAtStart(started({ window: 5000 }));
  assert.equal(isCompactionDue(room, turns(3, 10)), false);
  assert.equal(isCompactionDue(room, turns(MODEL_LIMITS.freshTurns, 5000)), false);
  assert.equal(isCompactionDue(room, turns(MODEL_LIMITS.freshTurns + 1, 5000)), true);
  const { chars, fresh } = compactionTarget(room, turns(20, 5000));
  assert.deepEqual(
    [chars, fresh],
    [Math.min(MODEL_LIMITS.compactedChars, room.mostChars / 2), MODEL_LIMITS.freshTurns],
  );
});
