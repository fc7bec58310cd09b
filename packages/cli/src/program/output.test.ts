/* oxlint-disable no-control-regex -- control characters are what these tests are about */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import fc from "fast-check";
import { FAULTS, OUTPUT_LIMITS } from "@vidro/core";
import {
  faultLine,
  faultRow,
  indentText,
  passOutput,
  peopleStream,
  print,
  printText,
  prompt,
  say,
  sayFault,
  sayText,
  waitForReader,
  writeJson,
} from "./output.ts";

/** What is written to both streams while `work` runs, in their order. */
function written(t: TestContext, work: () => void): { readonly out: string; readonly err: string } {
  const [out, err]: [string[], string[]] = [[], []];
  const writes = [
    t.mock.method(process.stdout, "write", (text: string | Uint8Array) => out.push(String(text)) > 0),
    t.mock.method(process.stderr, "write", (text: string | Uint8Array) => err.push(String(text)) > 0),
  ];
  work();
  for (const { mock } of writes) mock.restore();
  return { out: out.join(""), err: err.join("") };
}

/** Lets a stream be a terminal, or none, for one test. */
function setTerminal(t: TestContext, name: "stdout" | "stderr", isTTY: boolean): void {
  const before = Object.getOwnPropertyDescriptor(process[name], "isTTY");
  Object.defineProperty(process[name], "isTTY", { value: isTTY, configurable: true });
  t.after(() => {
    if (before === undefined) delete (process[name] as { isTTY?: boolean }).isTTY;
    else Object.defineProperty(process[name], "isTTY", before);
  });
}

const HOSTILE = "a\u001b[31mred\u001b[0m\u001b]52;c;aGk=\u0007\u0000\u0008\u009b2J\u202eb\u2066\u200b\ufeff";
/** Control characters but for the line feed and the tab, and characters that turn or hide text. */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/;

describe("words for people", () => {
  test("go to stderr, and what a program reads goes to stdout", (t) => {
    assert.deepEqual(
      written(t, () => say("one", "two")),
      { out: "", err: "one\ntwo\n" },
    );
    assert.deepEqual(
      written(t, () => print("three")),
      { out: "three\n", err: "" },
    );
    assert.deepEqual(
      written(t, () => writeJson({ a: 1 })),
      { out: '{"a":1}\n', err: "" },
    );
    assert.deepEqual(
      written(t, () => sayText("one\n\ntwo")),
      { out: "", err: "one\n\ntwo\n" },
    );
    assert.deepEqual(
      written(t, () => printText("one\n\ntwo")),
      { out: "one\n\ntwo\n", err: "" },
    );
  });

  test("of no lines are nothing", (t) => {
    assert.deepEqual(
      written(t, () => {
        say();
        print();
      }),
      { out: "", err: "" },
    );
  });

  test("are one line each: a break within one comes from others, and is a blank", (t) => {
    const { err, out } = written(t, () => {
      say("run fine\n  next: rm -rf /");
      print("a \r\n\n b");
    });
    assert.equal(err, "run fine next: rm -rf /\n");
    assert.equal(out, "a b\n");
  });

  test("carry no control sequence of others, in whatever way they are written", (t) => {
    const { out, err } = written(t, () => {
      say(HOSTILE);
      sayText(HOSTILE);
      print(HOSTILE);
      printText(HOSTILE);
      prompt(HOSTILE);
      writeJson({ [HOSTILE]: HOSTILE });
      sayFault({ code: "CONFLICT", message: HOSTILE }, HOSTILE);
    });
    assert.doesNotMatch(out + err, UNSAFE);
    assert.match(out, /aredb/);
  });

  test("of any text leave no control character on either stream", (t) => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const { out, err } = written(t, () => {
          say(text);
          print(text);
          printText(text);
          writeJson(text);
        });
        assert.doesNotMatch(out + err, UNSAFE);
        assert.equal(
          JSON.parse(out.slice(out.trimEnd().lastIndexOf("\n") + 1)),
          text.toWellFormed() === text ? text : JSON.parse(JSON.stringify(text)),
        );
        assert.ok(err.endsWith("\n") && err.indexOf("\n") === err.length - 1);
      }),
    );
  });
});

describe("output of a command on a host", () => {
  test("is passed on as it is to a program, and without control sequences to a terminal", (t) => {
    for (const stream of ["stdout", "stderr"] as const) {
      const name = stream === "stdout" ? "out" : "err";
      setTerminal(t, stream, false);
      assert.equal(written(t, () => passOutput(stream, HOSTILE))[name], HOSTILE);
      setTerminal(t, stream, true);
      assert.doesNotMatch(written(t, () => passOutput(stream, HOSTILE))[name], UNSAFE);
    }
  });
});

test("the terminal of a person is stdout, and stderr when stdout goes elsewhere", (t) => {
  setTerminal(t, "stdout", true);
  assert.equal(peopleStream(), process.stdout);
  setTerminal(t, "stdout", false);
  assert.equal(peopleStream(), process.stderr);
});

describe("a foreign text of several lines", () => {
  test("has every line but the first indented, so that none begins as ours do", () => {
    assert.deepEqual(indentText("why: a\n  next: b\nvidro: c", 7), ["why: a", "         next: b", "       vidro: c"]);
    assert.deepEqual(indentText("", 7), [""]);
    assert.deepEqual(indentText("a\n", 2), ["a", "  "]);
  });

  test("cannot break its indent with any kind of line break", () => {
    for (const sign of ["\r", "\r\n", "\u2028", "\u2029", "\u0085", "\u000b", "\u000c"]) {
      const lines = indentText(`a${sign}vidro: b`, 7);
      assert.ok(
        lines.slice(1).every((line) => line.startsWith("       ")),
        JSON.stringify(sign),
      );
      assert.doesNotMatch(lines.join("\n"), UNSAFE);
    }
  });
});

describe("a fault", () => {
  test("that only a newer brain knows is shown by its code, with what to do, and fails with 1", () => {
    for (const code of ["DREAM_LOST", "toString", "__proto__", "constructor"]) {
      const { says, next, exit } = faultRow(code);
      assert.ok(says.includes(code), says);
      assert.match(next, /of the brain's own version/);
      assert.equal(exit, 1);
    }
    assert.equal(faultRow("NOT_FOUND"), FAULTS.NOT_FOUND);
  });

  test("has a line of JSON with its next step", () => {
    const { next } = FAULTS.NOT_FOUND;
    const line = faultLine({ code: "NOT_FOUND", message: "None." });
    assert.deepEqual(line, { type: "error", code: "NOT_FOUND", message: "None.", next });
  });

  test("about the command line has its own message as the headline, others have it below", (t) => {
    const said = (code: "BAD_REQUEST" | "POLICY_DENIED") =>
      written(t, () => sayFault({ code, message: "Because." })).err.split("\n");
    assert.deepEqual(said("BAD_REQUEST").slice(0, 1), ["vidro: Because."]);
    assert.deepEqual(said("POLICY_DENIED").slice(0, 2), [`vidro: ${FAULTS.POLICY_DENIED.says}`, "  why: Because."]);
  });
});

describe("a reader of stdout that is slow", () => {
  /** Lets stdout hold as many unread bytes as the test says. */
  function holdUnread(t: TestContext, bytes: number): { unread: number } {
    const held = { unread: bytes };
    const before = Object.getOwnPropertyDescriptor(process.stdout, "writableLength");
    Object.defineProperty(process.stdout, "writableLength", { get: () => held.unread, configurable: true });
    t.after(() => {
      if (before === undefined) delete (process.stdout as { writableLength?: number }).writableLength;
      else Object.defineProperty(process.stdout, "writableLength", before);
    });
    return held;
  }

  test("is not waited for below the bound", async (t) => {
    holdUnread(t, OUTPUT_LIMITS.unreadBytes);
    await waitForReader();
  });

  test("is waited for until it has read enough, not only until it has read something", async (t) => {
    const held = holdUnread(t, OUTPUT_LIMITS.unreadBytes * 2);
    let isOver = false;
    const waiting = waitForReader().then(() => (isOver = true));
    held.unread = OUTPUT_LIMITS.unreadBytes + 1;
    process.stdout.emit("drain");
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    held.unread = 0;
    process.stdout.emit("drain");
    await waiting;
  });

  test("is left when the signal fires, before or while it is waited for, and no listener stays", async (t) => {
    holdUnread(t, OUTPUT_LIMITS.unreadBytes + 1);
    const listeners = process.stdout.listenerCount("drain");
    await waitForReader(AbortSignal.abort());
    const leaving = new AbortController();
    const waiting = waitForReader(leaving.signal);
    leaving.abort();
    await waiting;
    assert.equal(process.stdout.listenerCount("drain"), listeners);
  });
});
