import assert from "node:assert/strict";
import { test } from "node:test";
import { RUN_LIMITS } from "../limits.ts";
import { asksForAlways, changeIn, isApproval, readAnswer } from "./answer-words.ts";
import { commandWords } from "./command-words.ts";

const approval = {
  about: { kind: "approval", action: "a", hash: "h", policy: "p" },
  options: ["yes", "no", "yes for this run", "yes, changed"],
} as const;
const unknown = { about: { kind: "unknown", action: "a" }, options: ["continue", "stop"] } as const;

test("yes and no are what people say for them, in three languages and however they are written", () => {
  for (const yes of ["yes", "YES", " y ", "Yes.", "ok", "sim", "Sim!", "sí", "si\u0301", "¡Sí!", "Claro"])
    assert.equal(readAnswer(approval, yes), "yes", yes);
  for (const no of ["no", "NO", "n", "não", "Nao.", "¡No!", "nope"]) assert.equal(readAnswer(approval, no), "no", no);
});

test("a yes for the whole run is told apart from a yes, and only where it is an option", () => {
  const forms = [
    "yes for this run",
    "Yes, for this run.",
    "y for the run",
    "sim, nesta execução",
    "sí, en esta ejecución",
  ];
  for (const words of forms) {
    assert.equal(readAnswer(approval, words), "yes for this run", words);
    assert.equal(readAnswer({ ...approval, options: ["yes", "no"] }, words), undefined, words);
  }
  assert.equal(isApproval(approval, "yes for this run"), true);
});

test("always is told apart from a yes, and only where it is an option", () => {
  const offered = { ...approval, options: [...approval.options, "yes, always"] };
  for (const words of ["yes, always", "Always!", "yes always", "sempre", "Sim, sempre", "sí, siempre", "SIEMPRE"]) {
    assert.equal(readAnswer(offered, words), "yes, always", words);
    assert.equal(readAnswer(approval, words), undefined, words);
  }
  for (const words of ["not always", "always ask me", "yes, always?"])
    assert.equal(readAnswer(offered, words), undefined);
  assert.equal(isApproval(offered, "yes, always"), true);
});

test("a yes with a change keeps its words as they were written, and a yes with a condition is no answer", () => {
  for (const words of ["yes, changed: ls 'Ä b'", "sim, mudado: ls 'Ä b'", "Sí, cambiado:  ls 'Ä b' "]) {
    assert.equal(readAnswer(approval, words), "yes, changed", words);
    assert.equal(changeIn(words), "ls 'Ä b'", words);
    assert.equal(readAnswer({ ...approval, options: ["yes", "no"] }, words), undefined, words);
  }
  for (const words of ["yes, changed:", "yes, but: ls", "changed: ls"]) assert.equal(changeIn(words), undefined, words);
  assert.equal(isApproval(approval, "yes, changed"), true);
});

test("a command line is split as a shell would split it, and nothing in it is expanded", () => {
  const line = String.raw`git commit -m 'two words' "a \"b\" $HOME" x\ y ''`;
  assert.deepEqual(commandWords(line), ["git", "commit", "-m", "two words", 'a "b" $HOME', "x y", ""]);
  assert.equal(commandWords("echo 'open"), undefined);
  assert.deepEqual(commandWords("  "), []);
});

test("a no may say why, and keeps its words", () => {
  for (const why of ["no, because it is Monday", "No: use ls", "não, hoje não", "no — later", "no porque es lunes"])
    assert.equal(readAnswer(approval, ` ${why} `), why);
});

test("what is neither is no answer: a person is asked again", () => {
  for (const words of [
    "",
    " ",
    "yes, but only one of them",
    "maybe",
    "what does it do?",
    "no problem",
    "yesterday",
    "not now",
  ])
    assert.equal(readAnswer(approval, words), undefined, words);
});

test("other questions that go one way or the other read yes and no as their own options", () => {
  assert.equal(readAnswer(unknown, "Continue"), "continue");
  assert.equal(readAnswer(unknown, "sim"), "continue");
  assert.equal(readAnswer(unknown, "no"), "stop");
  assert.equal(readAnswer(unknown, "hm"), undefined);
});

test("a question for words takes any", () => {
  assert.equal(readAnswer({ about: { kind: "ask" }, options: ["red", "blue"] }, "Green, please"), "Green, please");
});

test("long answers of marks and blanks are read in time that grows with their length", () => {
  for (const part of [".", " ", "*", "yes ", "no,", ", ", "\u0301", "\n"]) {
    const words = part.repeat(RUN_LIMITS.answerChars / part.length);
    for (const answer of [words, `x${words}x`, `yes${words}x`, `no${words}`, `${words}yes`, `yes${words}`]) {
      assert.equal(typeof asksForAlways(answer), "boolean", JSON.stringify(part));
      assert.equal(changeIn(answer), undefined, JSON.stringify(part));
      assert.notEqual(readAnswer(approval, answer), "yes, changed");
    }
  }
});

test("marks on both sides of an answer do not count, and marks within it do", () => {
  for (const yes of ["..yes..", "(yes)", '"yes"', "*yes*", "__yes__", "`yes`!", "\u00a1si!"])
    assert.equal(readAnswer(approval, yes), "yes", yes);
  assert.equal(asksForAlways("(yes, always)."), true);
  assert.equal(asksForAlways("yes. always"), false);
});

test("what is to run instead stands behind a colon, with or without a comma before it", () => {
  for (const [words, change] of [
    ["yes, changed: ls -l", "ls -l"],
    ["yes changed:ls", "ls"],
    ["y,changed : ls\n", "ls"],
    ["sim ,  mude para: ls", "ls"],
    ["yes,, changed: ls", undefined],
    ["yes, changed:", undefined],
    ["yes, changed: ", undefined],
    ["no, changed: ls", undefined],
  ] as const)
    assert.equal(changeIn(words), change, words);
});
