import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Turn } from "../event.ts";
import { MODEL_LIMITS } from "../limits.ts";
import {
  compactTurns,
  digestLine,
  dropSignatures,
  headAndTail,
  listOf,
  NO_TURNS,
  pushTurn,
  shortenTurn,
  turnsOf,
  turnsToDrop,
} from "./turns.ts";

const user = (text: string): Turn => ({ role: "user", text });
const call = (id: string, text = ""): Turn => ({
  role: "assistant",
  text,
  action: { id: `act_${id}`, tool: "echo", input: { words: "x" }, callId: id },
});
const result = (id: string, text: string): Turn => ({ role: "tool", callId: id, tool: "echo", text, failed: false });

/** Turns of a conversation: a task, then calls with one result each, or words. */
const someTurns = fc.array(
  fc.oneof(
    fc.string({ maxLength: 50 }).map((text) => [user(text)]),
    fc.tuple(fc.string({ maxLength: 5 }), fc.nat(3000)).map(([id, chars]) => [call(id), result(id, "x".repeat(chars))]),
  ),
  { maxLength: 20 },
);

test("pushing gives a new list and leaves the old one as it is, also when both grow on", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(), fc.string({ maxLength: 4 })), { maxLength: 30 }), (pushes) => {
      const lists = [{ list: NO_TURNS, texts: [] as readonly string[] }];
      for (const [from, text] of pushes) {
        const { list, texts } = lists[from % lists.length]!;
        lists.push({ list: pushTurn(list, user(text)), texts: [...texts, text] });
      }
      for (const { list, texts } of lists) {
        assert.deepEqual(
          turnsOf(list).map(({ text }) => text),
          texts,
        );
        assert.equal(list.chars, texts.join("").length);
      }
    }),
  );
});

test("a turn that is too long keeps its beginning and its end", () => {
  const long = `begin${"x".repeat(MODEL_LIMITS.turnChars * 2)}end`;
  const [turn] = turnsOf(pushTurn(NO_TURNS, user(long)));
  assert.match(turn?.text ?? "", /^begin.*characters left out.*end$/s);
  assert.ok((turn?.text.length ?? Infinity) < MODEL_LIMITS.turnChars + 100);
});

test("the middle that is left out is counted exactly", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.integer({ min: 1, max: 100 }), (text, chars) => {
      const cut = headAndTail(text, chars);
      if (text.length <= chars) return assert.equal(cut, text);
      const [, left] = /\n\[… (\d+) characters left out …\]\n/.exec(cut) ?? [];
      assert.equal(Number(left), text.length - chars);
      const head = Math.floor(chars * 0.7);
      assert.ok(cut.startsWith(text.slice(0, head)) && cut.endsWith(text.slice(text.length - (chars - head))));
    }),
  );
});

test("what is dropped never separates a call from its result, and leaves the fresh turns", () => {
  fc.assert(
    fc.property(someTurns, fc.nat(5000), fc.integer({ min: 0, max: 8 }), (groups, chars, fresh) => {
      const turns = listOf(groups.flat());
      const dropped = turnsToDrop(turns, { chars, fresh });
      const kept = turnsOf(turns).slice(dropped);
      assert.notEqual(kept[0]?.role, "tool");
      // At most one call stands behind what had to stay: its result goes with it.
      assert.ok(kept.length >= Math.min(turns.length, fresh) - 1);
      const after = compactTurns(turns, dropped, fresh);
      assert.equal(after.length, turns.length - dropped);
      assert.ok(after.chars <= turns.chars || turns.length === 0);
      if (dropped < turns.length - fresh) assert.ok(after.chars <= chars);
    }),
  );
});

test("old output is cut short, the fresh one is not", () => {
  const long = "x".repeat(MODEL_LIMITS.oldOutputChars * 2);
  const turns = listOf([call("a"), result("a", long), call("b"), result("b", long)]);
  const [, old, , fresh] = turnsOf(compactTurns(turns, 0, 2));
  assert.match(old?.text ?? "", /400 characters of old output left out/);
  assert.equal(fresh?.text, long);
  assert.equal(shortenTurn(user(long)).text, long, "words of a person stay whole");
  const little = "x".repeat(MODEL_LIMITS.oldOutputChars + 10);
  assert.equal(shortenTurn(result("c", little)).text, little, "nothing grows by being cut");
});

test("an altered conversation has no signatures and none of the thinking that they cover", () => {
  const signed: Turn = {
    role: "assistant",
    text: "I look.",
    parts: {
      from: "m",
      items: [
        { kind: "thinking", text: "hm", opaque: { v: { signature: "s" } } },
        { kind: "text", text: "I look." },
      ],
    },
  };
  for (const list of [dropSignatures(listOf([signed])), compactTurns(listOf([signed]), 0)]) {
    const text = JSON.stringify(turnsOf(list));
    assert.doesNotMatch(text, /signature/);
    assert.match(text, /I look\./);
  }
});

test("the line of a turn in a digest is one line of bounded length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 1000 }), (text) => {
      for (const turn of [user(text), call("a", text), result("a", text)]) {
        const line = digestLine(turn);
        assert.doesNotMatch(line, /[\n\r]/);
        assert.ok(line.length < 500);
      }
    }),
  );
  assert.equal(digestLine({ ...result("a", "no such file"), failed: true } as Turn), "  → failed: no such file");
});

test("a turn that is cut keeps its characters whole, wherever the cut falls", () => {
  for (const before of ["", "x"]) {
    const text = before + "😀".repeat(MODEL_LIMITS.turnChars);
    const cut = headAndTail(text, MODEL_LIMITS.turnChars + before.length);
    assert.ok(cut.isWellFormed());
    const left = Number(/\[… (\d+) characters left out …\]/.exec(cut)?.[1]);
    assert.equal(left, text.length - cut.replace(/\n\[.*\]\n/, "").length);
    const old = shortenTurn({ role: "tool", callId: "c", tool: "t", text, failed: false });
    assert.ok(old.text.isWellFormed());
    assert.ok(digestLine({ role: "user", text }).isWellFormed());
  }
});
