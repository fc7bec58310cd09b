import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALWAYS_YES, CHANGED_YES, RUN_WIDE_YES } from "@vidro/core/text";
import type { AlwaysRecord } from "@vidro/client";
import { Fault } from "@vidro/core";
import type { Language } from "@vidro/core/text";
import type { Plan, QuestionAsked } from "@vidro/core";
import { readApproval, reviewLines } from "./approval-keys.ts";
import { columnsOf } from "./columns.ts";
import { seatPerson } from "./shown-terminal.fixture.ts";

const ESC = "\u001b";
const never = new AbortController().signal;
const SHELL = { kind: "shell", command: "rm -r build", cwd: "/srv" } as unknown as Plan;
const ALL = ["yes", "no", RUN_WIDE_YES, CHANGED_YES, ALWAYS_YES];

const asked = (about: Partial<QuestionAsked> = {}, plan: Plan = SHELL): QuestionAsked => ({
  type: "question.asked",
  id: "q1",
  about: { kind: "approval", action: "act_1", hash: "h", plan } as never,
  text: "May it?",
  options: ALL,
  expiresAt: 0,
  ...about,
});

const RULE: AlwaysRecord = {
  question: "q1",
  hand: "web-1",
  rule: { id: "allow-rm", kind: "shell", command: "rm -r build", decision: "allow", examples: [], reason: "hidden" },
  past: [{ run: "run_01980000-0000-7000-8000-0000abcd1234", seq: 3, at: Date.UTC(2030, 0, 2, 3, 4), task: "clean up" }],
  count: 1,
  searchedRuns: 5,
};
const review = async (): Promise<AlwaysRecord> => RULE;

describe("a key at an approval", () => {
  const cases: readonly (readonly [language: Language, keys: readonly string[], answer: string])[] = [
    ["en", ["y"], "yes"],
    ["en", ["Y"], "yes"],
    ["en", ["n"], "no"],
    ["en", ["r"], RUN_WIDE_YES],
    ["en", [ESC], "no"],
    ["en", ["yes\r"], "yes"],
    ["en", ["OK\r"], "yes"],
    ["en", ["no, use trash instead\r"], "no, use trash instead"],
    ["en", ["w", "too risky", "\r"], "no: too risky"],
    ["en", ["w", "  ", "\r"], "no"],
    ["en", ["w", "\u0004"], "no"],
    ["en", ["s", "n"], "no"],
    ["en", ["\r", "y"], "yes"],
    ["en", ["x", "q", "7", "y"], "yes"],
    ["en", ["?", "y"], "yes"],
    ["pt", ["s"], "yes"],
    ["pt", ["y"], "yes"],
    ["pt", ["não\r"], "no"],
    ["es", ["s"], "yes"],
    ["es", ["sí\r"], "yes"],
    ["es", ["n"], "no"],
  ];
  for (const [language, keys, answer] of cases)
    test(`${language}: ${keys.map((key) => JSON.stringify(key)).join(" ")} is ${JSON.stringify(answer)}`, async (t) => {
      const person = seatPerson(t);
      const read = readApproval(asked({ language }), never, review);
      await person.strike(...keys);
      assert.equal(await read, answer);
    });

  test("that the question has no option for is no answer, and its name is not among the keys", async (t) => {
    const person = seatPerson(t);
    const read = readApproval(asked({ options: ["yes", "no"] }), never, review);
    await person.strike("r", "a", "c", "n");
    assert.equal(await read, "no");
    const shown = person.terminal.shown.join("\n");
    for (const word of ["yes for this run", "always", "change"]) assert.ok(!shown.includes(word), word);
    assert.equal(shown.match(/that is no answer, nothing was done/g)?.length, 3);
  });

  test("a is no answer where nothing can tell what always would mean", async (t) => {
    const person = seatPerson(t);
    const read = readApproval(asked(), never);
    await person.strike("a", "y");
    assert.equal(await read, "yes");
    assert.ok(!person.terminal.shown.join("\n").includes("always"));
  });

  test("that is no answer is repeated without what would steer the terminal, and not at any length", async (t) => {
    const person = seatPerson(t);
    const read = readApproval(asked(), never, review);
    await person.strike(`${ESC}[200~maybe ${ESC}[2J\u202e${"x".repeat(500)}${ESC}[201~`, "n");
    assert.equal(await read, "no");
    const [told = ""] = person.terminal.shown.filter((row) => row.includes("that is no answer"));
    assert.match(told, /^ {2}maybe x+…: that is no answer/);
    assert.ok(told.length < 90, told);
  });

  for (const columns of [20, 40, 80, 200])
    for (const language of ["en", "pt", "es"] as const)
      test(`is shown with its words in ${columns} columns in ${language}, and no row is wider`, async (t) => {
        const person = seatPerson(t, columns);
        const closing = new AbortController();
        const read = readApproval(asked({ language }), closing.signal, review).catch(() => "closed");
        const rows = person.terminal.shown;
        for (const row of rows) assert.ok(columnsOf(row) <= Math.max(columns, 24), row);
        for (const key of [language === "en" ? "y" : "s", "r", "a", "c", "n", "w", "?"])
          assert.ok(
            rows.some((row) => `${row} `.includes(`  ${key} `)),
            `${key}: ${rows.join("\n")}`,
          );
        closing.abort();
        assert.equal(await read, "closed");
      });
});

describe("a changed command", () => {
  test("is edited in its own line, and nothing is done with an empty one", async (t) => {
    const person = seatPerson(t);
    const read = readApproval(asked(), never, review);
    await person.strike("c");
    assert.equal(person.terminal.shown.at(-1), "  run this instead: rm -r build");
    await person.strike("\u0015", "\r");
    await person.strike("c", "/old", "\r");
    assert.equal(await read, `${CHANGED_YES}: rm -r build/old`);
  });

  test("of a program is shown as it would be typed, with every word quoted that needs it", async (t) => {
    const person = seatPerson(t);
    const plan = { kind: "process", argv: ["git", "commit", "-m", "two words", "it's"] } as unknown as Plan;
    const read = readApproval(asked({}, plan), never, review);
    await person.strike("c");
    assert.ok(person.terminal.shown.at(-1)?.endsWith(String.raw`git commit -m 'two words' 'it'\''s'`));
    await person.strike("\r");
    assert.equal(await read, `${CHANGED_YES}: git commit -m 'two words' ${String.raw`'it'\''s'`}`);
  });

  test("of another tool is asked for as fields", async (t) => {
    const person = seatPerson(t);
    const plan = { kind: "file", path: "/srv/x" } as unknown as Plan;
    const read = readApproval(asked({ language: "pt" }, plan), never, review);
    await person.strike("c");
    assert.match(person.terminal.shown.at(-1) ?? "", /campos a mudar, em JSON/);
    await person.strike('{"path":"/srv/y"}', "\r");
    assert.equal(await read, `${CHANGED_YES}: {"path":"/srv/y"}`);
  });
});

describe("always", () => {
  test("shows the rule and what it would have allowed, and is answered only by the same key again", async (t) => {
    const person = seatPerson(t);
    const read = readApproval(asked(), never, review);
    await person.strike("a", "n");
    assert.match(person.terminal.shown.join("\n"), /added to the policy of web-1, as allow-rm:/);
    await person.strike("a", "y", "a", "a");
    assert.equal(await read, ALWAYS_YES);
  });

  test("that cannot be told is said why, and the keys are asked for again", async (t) => {
    const person = seatPerson(t);
    const read = readApproval(asked(), never, async () => {
      throw new Fault("CONFLICT", "No rule can be added\nfor it.");
    });
    await person.strike("a", "n");
    assert.equal(await read, "no");
    assert.ok(person.terminal.shown.includes("  No rule can be added for it."));
  });

  test("is left when the question is closed while the rule is shown", async (t) => {
    const person = seatPerson(t);
    const closing = new AbortController();
    const read = readApproval(asked(), closing.signal, review);
    await person.strike("a");
    closing.abort();
    await assert.rejects(read, { code: "CONFLICT" });
  });
});

describe("the lines about a rule", () => {
  test("tell all of it but its id, its examples and its reason, in each language", () => {
    for (const language of ["en", "pt", "es"] as const) {
      const lines = reviewLines(RULE, language);
      assert.match(lines[0] ?? "", /web-1.*allow-rm/);
      for (const line of ["  kind: shell", "  command: rm -r build", "  decision: allow"])
        assert.ok(lines.includes(line));
      assert.ok(!lines.join("\n").includes("hidden"));
      assert.ok(lines.includes("  2030-01-02 03:04 abcd1234 clean up"));
    }
  });

  test("count the earlier actions that are not shown, and say when there is none", () => {
    assert.equal(reviewLines({ ...RULE, count: 13 }).at(-1), "  … +12");
    assert.ok(
      reviewLines({ ...RULE, past: [], count: 0 }).includes("No earlier action would have been allowed by it."),
    );
    assert.ok(reviewLines({ ...RULE, count: 1 }).includes("It would have allowed 1 earlier action, too:"));
    assert.ok(reviewLines({ ...RULE, count: 2 }).includes("It would have allowed 2 earlier actions, too:"));
  });

  test("cannot be broken by what a rule or a task holds", () => {
    const rule = { ...RULE.rule, command: "rm x\n  decision: deny\u001b[2J" };
    const past = RULE.past.map((one) => ({ ...one, task: "a\nb\u0000", answer: "yes\nno" }));
    const lines = reviewLines({ ...RULE, rule, past });
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    for (const line of lines) assert.doesNotMatch(line, /[\u0000-\u001f]/);
    assert.ok(lines.includes("  2030-01-02 03:04 abcd1234 a b: yes no"));
  });

  test("warn that files are not part of a rule about a command, and only there", () => {
    const warns = (kind: string) =>
      reviewLines({ ...RULE, rule: { id: "x", kind } }).some((line) => line.startsWith("Files "));
    assert.deepEqual(["shell", "process", "file", "fetch"].map(warns), [true, true, false, false]);
  });
});
