import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { FAULT_WORDS_ES } from "./fault-words-es.ts";
import { FAULT_WORDS_PT } from "./fault-words-pt.ts";
import { faultSentence, faultText } from "./fault-text.ts";

const CODES = Object.keys(FAULTS) as readonly FaultCode[];

/** Commands, settings and flags, which are the same in every language. */
function namesIn(sentence: string): readonly string[] {
  const names = sentence.match(/\bvidro(?: [a-z]+)+|\b[A-Z]+(?:_[A-Z]+)+\b|--[a-z-]+|max_\w+|Idempotency-Key/g) ?? [];
  // The words behind a command's name are the sentence's own.
  return names
    .map((name) => name.replace(/^(vidro(?: (?:tokens|hands|runs|policy|config|audit))? \w+).*/, "$1"))
    .sort();
}

for (const [language, words] of [
  ["Portuguese", FAULT_WORDS_PT],
  ["Spanish", FAULT_WORDS_ES],
] as const)
  test(`every fault says in ${language} what happened and what to do next, with the same commands and settings`, () => {
    assert.deepEqual(Object.keys(words).sort(), CODES.toSorted());
    for (const code of CODES) {
      const [says, next] = words[code];
      assert.match(says, /^\p{Lu}.+\.$/u, code);
      assert.match(next, /^\p{Lu}.+/u, code);
      assert.notEqual(says, FAULTS[code].says, code);
      assert.deepEqual(namesIn(`${says} ${next}`), namesIn(`${FAULTS[code].says} ${FAULTS[code].next}`), code);
    }
  });

test("a fault in English is its own message and what to do next; in another language its message is a detail", () => {
  const fault = { code: "NOT_FOUND", message: "There is no run x." };
  assert.deepEqual(faultText(fault), { says: "There is no run x.", next: FAULTS.NOT_FOUND.next });
  assert.deepEqual(faultText(fault, FAULT_WORDS_PT), {
    says: "Isso não existe aqui.",
    next: "Procure na lista: vidro runs list",
    detail: "There is no run x.",
  });
  const plain = { code: "NOT_FOUND", message: FAULTS.NOT_FOUND.says };
  assert.equal(faultText(plain, FAULT_WORDS_ES).detail, undefined);
  assert.equal(faultSentence("NOT_FOUND"), FAULTS.NOT_FOUND.says);
  assert.equal(faultSentence("NOT_FOUND", FAULT_WORDS_ES), "Eso no existe aquí.");
  assert.equal(faultSentence("toString"), undefined);
  assert.deepEqual(faultText({ code: "BAD_ANSWER", message: "x" }, FAULT_WORDS_ES), { says: "x" });
});
