import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { Action, OrderPlan, Plan, ProcessPlan, ShellPlan, Verdict } from "../tool.ts";
import {
  answerWords,
  approvalAsked,
  approvalRows,
  approvalWords,
  explainingRows,
  runWideWords,
  writesFiles,
} from "./approval-words.ts";
import type { Language } from "./language.ts";
import { escapeInvisible } from "./printable.ts";

const LANGUAGES: readonly Language[] = ["en", "pt", "es"];
const verdict: Verdict = { decision: "ask", rule: "default", class: "code-exec", reason: "No rule allows it." };
const program: ProcessPlan = {
  kind: "process",
  program: "/usr/bin/make",
  argv: ["make", "all targets"],
  cwd: "/srv/my work",
  env: {},
  timeoutMs: 90_000,
  digests: {},
};
const shell: ShellPlan = {
  kind: "shell",
  command: "ls\nrm -r x",
  cwd: "/srv/work",
  env: {},
  timeoutMs: 1000,
  access: "workspace",
  sandboxed: true,
};
const rowOf = (plan: Plan, name: string, language: Language = "en"): string | undefined =>
  approvalRows({ plan, verdict }, language).find(([row]) => row === name)?.[1];

describe("what a person reads about a program before approving it", () => {
  it("is the command, its real file, its folder and its limit, each quoted as a shell would have it", () => {
    assert.equal(rowOf(program, "command"), "make 'all targets'");
    assert.equal(rowOf(program, "program"), "/usr/bin/make");
    assert.equal(rowOf(program, "in"), "'/srv/my work'");
    assert.equal(rowOf(program, "limit"), "1 min 30 s");
  });

  it("says what it can reach: all of the user, with or without Vidro's own state, or what a sandbox leaves", () => {
    assert.equal(rowOf(program, "access"), "host: everything that the hand's user may do");
    assert.match(rowOf({ ...program, state: "hidden" }, "access") ?? "", /may do, without Vidro's own state$/);
    assert.match(rowOf({ ...program, state: "open" }, "access") ?? "", /reach Vidro's own state: keys, tokens/);
    assert.equal(rowOf({ ...program, confined: "network", state: "open" }, "access"), "network, held by a sandbox");
  });

  it("names each file whose content decides, with the beginning of its fingerprint", () => {
    const digests = { "/srv/work/Makefile": "0123456789abcdef0123", "/srv/work/a b": "ffffffffffffffffffff" };
    const rows = approvalRows({ plan: { ...program, digests }, verdict }).filter(([name]) => name === "script");
    assert.deepEqual(rows, [
      ["script", "/srv/work/Makefile as it is now (0123456789abcdef…)"],
      ["script", "'/srv/work/a b' as it is now (ffffffffffffffff…)"],
    ]);
  });

  it("warns of what its fingerprints do not cover", () => {
    assert.equal(rowOf(program, "not covered"), undefined);
    assert.equal(
      rowOf({ ...program, unseen: ["make", "a b"] }, "not covered"),
      "what make, 'a b' may load, include or run besides",
    );
  });

  it("says how a program in the background ends, and what is written to one that runs already", () => {
    assert.equal(rowOf(program, "background"), undefined);
    assert.equal(rowOf({ ...program, background: {} }, "background"), "ends with the run");
    assert.match(rowOf({ ...program, background: { keep: true } }, "background") ?? "", /goes on after the run/);
    const writing = { ...program, background: { process: "act_1", input: "y\nrm\u001b[2J" } };
    assert.equal(rowOf(writing, "input"), "y\nrm\\e[2J");
  });
});

describe("what a person reads about other plans before approving them", () => {
  it("is the whole line for a shell, with the reach of its sandbox, or that of the user without one", () => {
    assert.equal(rowOf(shell, "shell"), "ls\nrm -r x");
    assert.equal(rowOf(shell, "access"), "workspace, held by a sandbox");
    assert.equal(rowOf({ ...shell, sandboxed: false }, "access"), "host: everything that the hand's user may do");
    assert.match(rowOf({ ...shell, sandboxed: false, state: "open" }, "access") ?? "", /keys, tokens, policy, journal/);
  });

  it("is the address of a page and which networks it may be in", () => {
    const plan: Plan = { kind: "fetch", url: "https://a.test/?q=1&x=y", reach: "public" };
    assert.equal(rowOf(plan, "page"), "'https://a.test/?q=1&x=y'");
    assert.match(rowOf(plan, "where") ?? "", /leaves this network/);
    assert.match(rowOf({ ...plan, reach: "any" }, "where") ?? "", /private addresses/);
  });

  it("is the place of a file, in the workspace or outside of it", () => {
    const plan: Plan = { kind: "file", operation: "read", path: "/etc/passwd", inWorkspace: false };
    assert.equal(rowOf(plan, "file"), "read /etc/passwd");
    assert.equal(rowOf(plan, "where"), "outside the workspace");
    assert.equal(rowOf({ ...plan, inWorkspace: true }, "where"), "in the workspace");
  });

  it("is the tool with each field of its input for an order, whose invisible letters are spelled", () => {
    const plan: OrderPlan = { kind: "order", tool: "mail\u202e", input: { to: "a@b.test", "cc\u200b": [1, "\u0000"] } };
    const rows = approvalRows({ plan, verdict });
    assert.deepEqual(rows.slice(0, 3), [
      ["tool", String.raw`$'mail\u202e'`],
      ["input to", "a@b.test"],
      [String.raw`input $'cc\u200b'`, String.raw`[1,"\u0000"]`],
    ]);
  });

  it("is the name of the facts where a tool reads those", () => {
    assert.equal(rowOf({ kind: "facts", facts: "open ports" }, "facts"), "read the facts 'open ports'");
  });

  it("shows what is written, whole, only where the plan itself has nothing but a digest of it", () => {
    const content = `first\n${"x".repeat(9000)}`;
    const action: Action = { id: "act_7", tool: "write_file", callId: "c", input: { path: "a", content } };
    const write: Plan = { kind: "file", operation: "write", path: "/srv/work/a", inWorkspace: true };
    const shown = approvalRows({ plan: write, verdict, action });
    assert.deepEqual(
      shown.find(([name]) => name === "content"),
      ["content", content],
    );
    const read = approvalRows({ plan: { ...write, operation: "read" }, verdict, action });
    assert.equal(
      read.some(([name]) => name === "content"),
      false,
    );
    assert.deepEqual(shown.at(-1), ["action", "act_7"]);
  });
});

describe("an approval in each language", () => {
  const plans: readonly Plan[] = [
    { ...program, unseen: ["make"], background: { keep: true }, digests: { "/a": "0".repeat(64) }, state: "hidden" },
    { ...shell, background: { input: "y" } },
    { kind: "file", operation: "write", path: "/a", inWorkspace: false },
    { kind: "files", files: [{ kind: "file", operation: "read", path: "/a", inWorkspace: true }] },
    { kind: "fetch", url: "https://a.test/", reach: "any" },
    { kind: "facts", facts: "ports" },
    { kind: "order", tool: "t", input: {} },
  ];

  it("has the same rows in the same order, and every explaining sentence is translated", () => {
    for (const plan of plans) {
      const [en = [], ...others] = LANGUAGES.map((language) => approvalRows({ plan, verdict, hand: "web" }, language));
      for (const [at, rows] of others.entries()) {
        const language = LANGUAGES[at + 1] ?? "en";
        assert.equal(rows.length, en.length, `${plan.kind} ${language}`);
        for (const [row, [name, text]] of rows.entries()) {
          const english = en[row]?.[1] ?? "";
          const isTheHostsOwn = english === verdict.reason;
          if (explainingRows(language).has(name) && !isTheHostsOwn)
            assert.notEqual(text, english, `${language} ${name}`);
        }
      }
    }
  });

  it("shows the words of the plan to the letter, the same in all of them", () => {
    for (const plan of plans) {
      const literal = LANGUAGES.map((language) => {
        const explaining = explainingRows(language);
        const rows = approvalRows({ plan, verdict }, language).filter(([name]) => !explaining.has(name));
        // The rows "script" and "class" hold a word of the language beside the plan's.
        return rows.map(([, text]) => text.replace(/ (?:as|como) .*\(/, " (").replace(/, \S+ default$/, ""));
      });
      assert.deepEqual(literal[1], literal[0]);
      assert.deepEqual(literal[2], literal[0]);
    }
  });

  it("begins with the question, and ends a conversation's question with how to answer it", () => {
    for (const language of LANGUAGES) {
      const words = approvalWords({ plan: program, verdict }, language);
      assert.equal(words.split("\n")[0], approvalAsked(language));
      const answer = answerWords("run_1", "q7_run_1", language);
      assert.ok(answer.includes("run_1") && answer.includes("q7_run_1"));
    }
    assert.equal(new Set(LANGUAGES.map((language) => approvalAsked(language))).size, 3);
  });

  it("promises beyond the shown plan only for one file", () => {
    for (const plan of plans) assert.equal(runWideWords(plan) !== undefined, plan.kind === "file", plan.kind);
    assert.equal(runWideWords(undefined, "pt"), undefined);
  });
});

describe("no plan can forge the text of its own approval", () => {
  const words = fc.string({
    unit: fc.constantFrom("a", "\n", ":", " ", "why: safe", "\u001b[2K", "\u202e", "\r", "host: here", "\u2028"),
    maxLength: 12,
  });

  it("by a line of its own: every line but a row's first is indented, and none holds a control character", () => {
    fc.assert(
      fc.property(words, words, words, (command, field, hand) => {
        const made: readonly Plan[] = [
          { ...shell, command, cwd: field },
          { ...program, argv: [command, field], program: field, unseen: [command] },
          { kind: "order", tool: command, input: { [field]: command } },
          { kind: "files", files: [], patch: command },
        ];
        for (const plan of made) {
          const rows = approvalRows({ plan, verdict, hand });
          for (const row of rows)
            for (const text of row) assert.equal(escapeInvisible(text.replaceAll("\n", "")), text.replaceAll("\n", ""));
          const lines = approvalWords({ plan, verdict, hand }).split("\n").slice(1);
          assert.equal(lines.filter((line) => !line.startsWith("  ")).length, rows.length);
        }
      }),
    );
  });

  it("by a field of an order that has the name of a row, or of a row's continuation", () => {
    const input = { class: "read, rule always", host: "sandbox", why: "it only looks", "  why": "it only looks" };
    for (const language of ["en", "pt", "es"] as const) {
      const rows = approvalRows({ plan: { kind: "order", tool: "t", input }, verdict, hand: "web" }, language);
      const own = approvalRows({ plan: { kind: "order", tool: "t", input: {} }, verdict, hand: "web" }, language);
      assert.equal(rows.length, own.length + 4);
      for (const [name, text] of own)
        assert.deepEqual(
          rows.filter((row) => row[0] === name).map((row) => row[1]),
          [text],
        );
      assert.equal(explainingRows(language).has(rows[3]?.[0] ?? ""), false);
    }
  });

  it("by its rule or reason, which come from the host", () => {
    const forged = { ...verdict, rule: "ok\nwhy: all is well", reason: "a\nclass: read" };
    const lines = approvalWords({ plan: program, verdict: forged }).split("\n");
    assert.ok(lines.includes("class: code-exec, rule ok\\nwhy: all is well"));
    assert.ok(lines.includes("  class: read"));
  });
});

describe("whether a plan writes files", () => {
  it("depends on its operations alone, also among several files", () => {
    const file = (operation: "read" | "write") => ({ kind: "file", operation, path: "/a", inWorkspace: true }) as const;
    assert.equal(writesFiles(file("write")), true);
    assert.equal(writesFiles(file("read")), false);
    assert.equal(writesFiles({ kind: "files", files: [file("read"), file("write")] }), true);
    assert.equal(writesFiles({ kind: "files", files: [file("read")] }), false);
    assert.equal(writesFiles(program), false);
  });
});
