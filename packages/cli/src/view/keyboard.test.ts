import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { TERMINAL_LIMITS } from "@vidro/core";
import { dropStrayKeys, readKey, readWords } from "./keyboard.ts";
import { seatPerson } from "./shown-terminal.fixture.ts";
import { terminalInput } from "./terminal-input.ts";

const ESC = "\u001b";
const never = new AbortController().signal;
const paste = (text: string): string => `${ESC}[200~${text}${ESC}[201~`;

describe("one key", () => {
  test("is read without Enter, behind its prompt, and the terminal is given back", async (t) => {
    const person = seatPerson(t);
    const key = readKey("  y yes  n no\n", never);
    assert.equal(person.isRaw, true);
    await person.strike("y");
    assert.equal(await key, "y");
    assert.deepEqual(person.terminal.shown, ["  y yes  n no"]);
    assert.equal(person.isRaw, false);
    assert.ok(person.terminal.raw.endsWith(`${ESC}[?2004l`), "a paste is not marked any more");
  });

  test("is a whole line where one arrives at once", async (t) => {
    const person = seatPerson(t);
    for (const [struck, read] of [
      ["no, too slow\r", "no, too slow\n"],
      [paste("yes\nplease"), "yes\nplease"],
      ["\r", "\n"],
      [`${ESC}[A`, ""],
      [`${ESC}[15~`, ESC],
      ["é", "é"],
      ["\u0000", ESC],
    ] as const) {
      const key = readKey("", never);
      await person.strike(struck);
      assert.equal(await key, read, JSON.stringify(struck));
    }
  });

  test("Escape is told from the beginning of another key by the time that passes", async (t) => {
    const person = seatPerson(t);
    const key = readKey("", never);
    await person.strike(ESC);
    assert.equal(await key, ESC);
  });

  test("that is struck before it is waited for is kept while the keyboard is held, and lost with it", async (t) => {
    const person = seatPerson(t);
    const release = terminalInput.hold();
    await person.strike("y", "n");
    assert.equal(terminalInput.isInUse, true);
    assert.equal(await readKey("", never), "yn");
    release();
    release();
    assert.equal(person.isRaw, false, "a second release changes nothing");
    assert.equal(terminalInput.isInUse, false);
  });

  test("is not waited for when the question is closed, before or while it is asked", async (t) => {
    const person = seatPerson(t);
    await assert.rejects(readKey("never shown", AbortSignal.abort()), { code: "CONFLICT" });
    assert.deepEqual(person.terminal.shown, []);
    const closing = new AbortController();
    const key = readKey("shown", closing.signal);
    closing.abort();
    await assert.rejects(key, { code: "CONFLICT", message: "The question is closed." });
    assert.equal(person.isRaw, false);
  });

  test("Ctrl-C is a signal to this process and no answer", async (t) => {
    const person = seatPerson(t);
    const struck = once(process, "SIGINT");
    const closing = new AbortController();
    const key = readKey("", closing.signal);
    await person.strike("\u0003");
    await struck;
    await person.strike("n");
    assert.equal(await key, "n");
  });
});

describe("keys before a question", () => {
  test("are dropped, so that none of them is an answer", async (t) => {
    const person = seatPerson(t);
    const release = terminalInput.hold();
    await person.strike("y", "\r");
    await dropStrayKeys();
    const key = readKey("", never);
    await person.strike("n");
    assert.equal(await key, "n");
    release();
  });
});

describe("words", () => {
  test("are what was typed up to Enter, and are left on the screen behind their prompt", async (t) => {
    const person = seatPerson(t);
    const words = readWords("› ", never);
    await person.strike("how ", "much", "\r");
    assert.equal(await words, "how much");
    assert.deepEqual(person.terminal.shown, ["› how much"]);
    assert.deepEqual(person.terminal.cursor, { row: 1, column: 0 });
    assert.equal(person.isRaw, false);
  });

  test("are edited by the keys of a line, also letters of several characters", async (t) => {
    const person = seatPerson(t);
    for (const [keys, text] of [
      [["abc", "\u007f", "\r"], "ab"],
      [["ac", `${ESC}[D`, "b", "\r"], "abc"],
      [["👩‍👩‍👧x", "\u007f", "\u007f", "\r"], ""],
      [["e\u0301", "\u007f", "\r"], ""],
      [["one two", "\u0017", "\r"], "one "],
      [["one two", "\u0001", "\u000b", "\r"], ""],
      [["one two", "\u0015", "three", "\r"], "three"],
      [["b", "\u0001", "a", "\u0005", "c", "\r"], "abc"],
      [["a", `${ESC}[3~`, `${ESC}[H`, `${ESC}[3~`, "\r"], ""],
      [["a", "\u0000", `${ESC}[99~`, "b", "\r"], "ab"],
    ] as const) {
      const words = readWords("› ", never);
      await person.strike(...keys);
      assert.equal(await words, text, JSON.stringify(keys));
    }
  });

  test("of several lines are pasted, made with Alt-Enter, or with a backslash before Enter", async (t) => {
    const person = seatPerson(t);
    for (const keys of [
      [paste("one\r\ntwo"), "\r"],
      ["one", `${ESC}\r`, "two", "\r"],
      ["one\\", "\r", "two", "\r"],
      ["one\rtwo\r"],
    ]) {
      const words = readWords("› ", never);
      await person.strike(...keys);
      assert.equal(await words, "one\ntwo", JSON.stringify(keys));
    }
  });

  test("end with Ctrl-D only where nothing is written", async (t) => {
    const person = seatPerson(t);
    const none = readWords("› ", never);
    await person.strike("\u0004");
    assert.equal(await none, undefined);
    const some = readWords("› ", never);
    await person.strike("a", "\u0004", "b", "\r");
    assert.equal(await some, "ab");
  });

  test("that are begun are thrown away by Ctrl-C, and a second Ctrl-C is a signal", async (t) => {
    const person = seatPerson(t);
    const closing = new AbortController();
    const words = readWords("› ", closing.signal);
    await person.strike("wrong", "\u0003");
    assert.deepEqual(person.terminal.shown, ["› wrong", "› "]);
    const struck = once(process, "SIGINT");
    await person.strike("\u0003");
    await struck;
    await person.strike("right", "\r");
    assert.equal(await words, "right");
  });

  test("begin with a text, and earlier ones come back with the arrows, the draft last", async (t) => {
    const person = seatPerson(t);
    const changed = readWords("› ", never, { prefill: "ls -l" });
    assert.deepEqual(person.terminal.shown, ["› ls -l"]);
    await person.strike("a", "\r");
    assert.equal(await changed, "ls -la");
    const history = ["newest", "older"];
    for (const [keys, text] of [
      [[`${ESC}[A`, "\r"], "newest"],
      [[`${ESC}[A`, `${ESC}[A`, `${ESC}[A`, "\r"], "older"],
      [["draft", `${ESC}[A`, `${ESC}[B`, "\r"], "draft"],
      [["draft", `${ESC}[B`, "\r"], "draft"],
    ] as const) {
      const words = readWords("› ", never, { history });
      await person.strike(...keys);
      assert.equal(await words, text, JSON.stringify(keys));
    }
  });

  test("are not waited for when the question is closed, and no listener of theirs stays", async (t) => {
    const person = seatPerson(t);
    const listeners = () => [process.listenerCount("SIGINT"), person.terminal.listenerCount("resize")];
    const before = listeners();
    await assert.rejects(readWords("› ", AbortSignal.abort()), { code: "CONFLICT" });
    const closing = new AbortController();
    const words = readWords("› ", closing.signal);
    await person.strike("half of");
    closing.abort();
    await assert.rejects(words, { code: "CONFLICT" });
    assert.deepEqual(listeners(), before);
    assert.equal(person.isRaw, false);
  });

  test("follow the width of the terminal when it changes", async (t) => {
    const person = seatPerson(t, 40);
    const words = readWords("› ", never);
    await person.strike("one two three four five");
    person.terminal.columns = 12;
    person.terminal.emit("resize");
    await person.strike("\r");
    assert.equal(await words, "one two three four five");
    for (const row of person.terminal.shown) assert.ok(row.length <= 40);
  });

  for (const columns of [20, 40, 80, 200])
    test(`in ${columns} columns are shown whole, with the cursor behind them`, async (t) => {
      const person = seatPerson(t, columns);
      const text = "quanto espaço há em 日本 😀 🇧🇷 e\u0301te\u0301 ".repeat(5).trim();
      const closing = new AbortController();
      const words = readWords("› ", closing.signal).catch(() => undefined);
      await person.strike(paste(text));
      const letters = (shown: string): string => shown.replaceAll(/\s/g, "");
      assert.equal(letters(person.terminal.shown.join("")), letters(`› ${text}`));
      assert.equal(person.terminal.cursor.row, person.terminal.shown.length - 1);
      await person.strike("\u0015");
      assert.deepEqual(person.terminal.shown, ["› "], "nothing of the text is left behind");
      closing.abort();
      await words;
    });
});

describe("a completion", () => {
  const words = ["/agent", "/agents", "/cost"];
  const complete = async (before: string) => {
    const [, word] = /(\S*)$/.exec(before) ?? [];
    return { from: before.length - (word ?? "").length, words: words.filter((one) => one.startsWith(word ?? "")) };
  };

  test("puts in what is common to all words that fit, then shows them", async (t) => {
    const person = seatPerson(t);
    const read = readWords("› ", never, { complete });
    await person.strike("/a", "\t");
    assert.equal(person.terminal.shown.at(-1), "› /agent");
    await person.strike("\t");
    assert.deepEqual(person.terminal.shown, ["› /agent", "/agent  /agents", "› /agent"]);
    await person.strike("s", "\r");
    assert.equal(await read, "/agents");
  });

  test("of one word puts it in; of none, or one that fails, leaves what is written", async (t) => {
    const person = seatPerson(t);
    for (const [options, keys, text] of [
      [{ complete }, ["x /c", "\t", "\r"], "x /cost"],
      [{ complete }, ["/zzz", "\t", "\r"], "/zzz"],
      [{ complete: async () => Promise.reject(new Error("gone")) }, ["a", "\t", "\r"], "a"],
      [{}, ["a", "\t", "b", "\r"], "ab"],
    ] as const) {
      const read = readWords("› ", never, options);
      await person.strike(...keys);
      assert.equal(await read, text);
    }
  });

  test("shows no more words than its bound", async (t) => {
    const person = seatPerson(t, 4000);
    const many = Array.from({ length: TERMINAL_LIMITS.completions + 5 }, (_, at) => `w${at}`);
    const closing = new AbortController();
    const read = readWords("› ", closing.signal, { complete: async () => ({ from: 0, words: many }) });
    await person.strike("w", "\t");
    const listed = person.terminal.shown.find((row) => row.startsWith("w0")) ?? "";
    assert.equal(listed.split("  ").length, TERMINAL_LIMITS.completions + 1);
    assert.ok(listed.endsWith("  …"));
    closing.abort();
    await assert.rejects(read);
  });

  test("that comes after the text was changed is left out", async (t) => {
    const person = seatPerson(t);
    const late = Promise.withResolvers<{ from: number; words: string[] }>();
    const read = readWords("› ", never, { complete: () => late.promise });
    await person.strike("a", "\t", "b");
    late.resolve({ from: 0, words: ["apple"] });
    await person.strike("\r");
    assert.equal(await read, "ab");
  });
});
