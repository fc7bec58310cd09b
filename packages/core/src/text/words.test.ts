import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { Action, Plan } from "../tool.ts";
import { commandWords } from "./command-words.ts";
import { commandLine } from "./printable.ts";
import { actionWords, byteWords, countWords, dollarWords, planWords, spanWords, usageWords } from "./words.ts";

describe("amounts in words", () => {
  it("of time have the unit that a person would choose", () => {
    const rows: readonly (readonly [number, string])[] = [
      [0, "0 ms"],
      [0.4, "0 ms"],
      [999.4, "999 ms"],
      [999.6, "1.0 s"],
      [1000, "1.0 s"],
      [59_940, "59.9 s"],
      [59_960, "1 min 0 s"],
      [60_000, "1 min 0 s"],
      [3_599_900, "59 min 59 s"],
      [3_599_999, "1 h 0 min"],
      [3_600_000, "1 h 0 min"],
      [90_000_000, "25 h 0 min"],
    ];
    for (const [ms, expected] of rows) assert.equal(spanWords(ms), expected, String(ms));
  });

  it("of bytes never show a thousand of one unit", () => {
    const rows: readonly (readonly [number, string])[] = [
      [0, "0 B"],
      [999, "999 B"],
      [1000, "1.0 kB"],
      [999_949, "999.9 kB"],
      [999_950, "1.0 MB"],
      [1_500_000_000, "1.5 GB"],
      [2e15, "2000.0 TB"],
    ];
    for (const [bytes, expected] of rows) assert.equal(byteWords(bytes), expected, String(bytes));
    fc.assert(
      fc.property(fc.nat(2_000_000_000), (bytes) => {
        assert.doesNotMatch(byteWords(bytes), /^1000/);
      }),
    );
  });

  it("of things have their noun in the right number", () => {
    assert.deepEqual(
      [0, 1, 2, 1234].map((count) => countWords(count, "line")),
      ["0 lines", "1 line", "2 lines", "1,234 lines"],
    );
  });

  it("of money keep two digits that are not zero", () => {
    const rows: readonly (readonly [number, string])[] = [
      [0, "$0.00"],
      [12.345, "$12.35"],
      [0.01, "$0.01"],
      [0.0042, "$0.0042"],
      [0.000_001_23, "$0.0000012"],
      [1e-15, "$0.0000000000"],
    ];
    for (const [usd, expected] of rows) assert.equal(dollarWords(usd), expected, String(usd));
  });

  it("of a model's use name only what there is", () => {
    assert.equal(usageWords({ inputTokens: 1000, outputTokens: 1 }), "1,001 tokens");
    assert.equal(
      usageWords({ inputTokens: 5, outputTokens: 5, cachedTokens: 4, thinkingTokens: 3, costUsd: 0.5 }),
      "10 tokens (4 cached, 3 thinking) · $0.50",
    );
  });
});

describe("an action on one line", () => {
  const action = (tool: string, input: Action["input"]): Action => ({ id: "act_1", callId: "c", tool, input });

  it("is its command, with its arguments quoted where they have to be", () => {
    assert.equal(actionWords(action("shell", { command: "ls -l | wc" })), "ls -l | wc");
    assert.equal(actionWords(action("command", { command: "cat", args: ["a b", "c"] })), "cat 'a b' c");
  });

  it("is the tool with its values where it has no command", () => {
    assert.equal(actionWords(action("read_file", { file_path: "a.txt", lines: [1, 2] })), "read_file a.txt [1,2]");
  });

  it("is one line, and no longer than asked for", () => {
    const words = actionWords(action("shell", { command: `a\nb${"x".repeat(500)}` }), 50);
    assert.doesNotMatch(words, /\n/);
    assert.ok(words.length <= 50);
  });
});

describe("a plan on one line", () => {
  it("shows exactly what would happen, for each kind", () => {
    const rows: readonly (readonly [Partial<Plan>, string])[] = [
      [{ kind: "process", argv: ["rm", "-r", "a b"] }, "rm -r 'a b'"],
      [{ kind: "shell", command: "a | b" }, "shell 'a | b'"],
      [{ kind: "file", operation: "write", path: "/a b" }, "write '/a b'"],
      [{ kind: "fetch", url: "https://a.test/?q=1" }, "fetch 'https://a.test/?q=1'"],
      [{ kind: "facts", facts: "processes" }, "read the facts processes"],
      [{ kind: "order", tool: "s__t", input: { a: 1 } }, 's__t {"a":1}'],
    ];
    for (const [plan, expected] of rows) assert.equal(planWords(plan as Plan), expected);
    const file = { kind: "file", operation: "read", path: "/a", inWorkspace: true } as const;
    assert.equal(planWords({ kind: "files", files: [file, { ...file, path: "/b" }] }), "read /a, read /b");
  });
});

describe("the words of a command line", () => {
  it("are read as a shell reads quotes, without any expansion", () => {
    const rows: readonly (readonly [string, readonly string[] | undefined])[] = [
      ["a b  c", ["a", "b", "c"]],
      ["", []],
      ["   ", []],
      ["'a b' \"c d\"", ["a b", "c d"]],
      ["a'b'\"c\"d", ["abcd"]],
      ["''", [""]],
      ['"\\"\\\\\\$\\`\\n"', ['"\\$`\\n']],
      ["a\\ b", ["a b"]],
      ["'it'\\''s'", ["it's"]],
      ["$HOME *", ["$HOME", "*"]],
      ["'open", undefined],
      ['"open', undefined],
      ["a\\", undefined],
    ];
    for (const [line, expected] of rows) assert.deepEqual(commandWords(line), expected, line);
  });

  it("are those that a command line was made of, whatever they are", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme-ascii" }), { minLength: 1, maxLength: 5 }), (words) => {
        assert.deepEqual(commandWords(commandLine(words)), words, JSON.stringify(words));
      }),
      { numRuns: 1000 },
    );
  });
});
