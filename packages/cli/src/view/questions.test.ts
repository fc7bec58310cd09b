import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { UNASKED_ANSWER } from "@vidro/core/text";
import type { QuestionAsked } from "@vidro/core";
import { absentAnswerer, personAnswerer, userName, yesAnswerer } from "./questions.ts";
import { seatPerson } from "./shown-terminal.fixture.ts";

type Kind = QuestionAsked["about"]["kind"];

const asked = (kind: Kind, options: readonly string[] = [], about: Partial<QuestionAsked> = {}): QuestionAsked => ({
  type: "question.asked",
  id: "q1",
  about: { kind } as never,
  text: "Well?",
  options,
  expiresAt: 0,
  ...about,
});
const never = new AbortController().signal;

test("--yes gives the first option, which lets the run go on, and says who gave it", async () => {
  assert.deepEqual(await yesAnswerer.answer(asked("approval", ["yes", "no"]), never), { text: "yes", by: "--yes" });
  assert.deepEqual(await yesAnswerer.answer(asked("ask"), never), { text: "", by: "--yes" });
});

test("without a person nothing is approved, and what cannot be known is stopped", async () => {
  const answers: { readonly [kind in Kind]: string } = {
    ask: UNASKED_ANSWER,
    approval: UNASKED_ANSWER,
    tool: UNASKED_ANSWER,
    unknown: "stop",
    call: "",
    healing: "escalate",
    restored: "stop",
  };
  for (const [kind, text] of Object.entries(answers))
    assert.deepEqual(
      await absentAnswerer.answer(asked(kind as Kind, ["yes", "no"]), never),
      { text, by: "vidro" },
      kind,
    );
});

describe("a person", () => {
  const cases: readonly (readonly [title: string, question: QuestionAsked, keys: readonly string[], text: string])[] = [
    ["chooses an option by its number", asked("ask", ["red", "blue"]), ["2", "\r"], "blue"],
    ["chooses an option by its words", asked("unknown", ["retry", "stop"]), ["Stop", "\r"], "stop"],
    ["answers in words of their own where any text is valid", asked("ask", ["red"]), ["green", "\r"], "green"],
    ["says nothing where nothing is an answer", asked("ask"), ["\r"], ""],
    ["ends the input where nothing is an answer", asked("ask"), ["\u0004"], ""],
    ["is asked again after an empty line that is a slip", asked("ask", ["red"]), ["\r", "  ", "\r", "1", "\r"], "red"],
    [
      "is asked again after a number that is no option",
      asked("unknown", ["retry", "stop"]),
      ["3", "\r", "0", "\r", "2", "\r"],
      "stop",
    ],
    [
      "is asked again after words that are no option",
      asked("restored", ["go on", "stop"]),
      ["maybe", "\r", "1", "\r"],
      "go on",
    ],
    ["may give a number as an answer of their own", asked("ask"), ["42", "\r"], "42"],
    ["may give a number that is no option, where any text is valid", asked("ask", ["a", "b"]), ["42", "\r"], "42"],
    ["pastes several lines", asked("ask"), ["\u001b[200~one\ntwo\u001b[201~", "\r"], "one\ntwo"],
  ];
  for (const [title, question, keys, text] of cases)
    test(title, async (t) => {
      const person = seatPerson(t);
      const answer = personAnswerer.answer(question, never);
      await person.strike(...keys);
      assert.deepEqual(await answer, { text, by: userName() });
      assert.equal(person.isRaw, false);
    });

  test("sees how many options there are, and in their language that other words count", async (t) => {
    const person = seatPerson(t);
    for (const [language, hint] of [
      ["en", "  1-2, or your own words › "],
      ["pt", "  1-2, ou as suas palavras › "],
      ["es", "  1-2, o sus palabras › "],
    ] as const) {
      const answer = personAnswerer.answer(asked("ask", ["a", "b"], { language }), never);
      assert.equal(person.terminal.shown.at(-1), hint);
      await person.strike("1", "\r");
      await answer;
    }
  });

  test("is told in one line what was no answer, without what would steer the terminal", async (t) => {
    const person = seatPerson(t, 200);
    const answer = personAnswerer.answer(asked("unknown", ["retry", "stop"]), never);
    await person.strike(`\u001b[200~a\nb\u001b[2J${"x".repeat(99)}\u001b[201~`, "\r", "2", "\r");
    await answer;
    const [told = ""] = person.terminal.shown.filter((row) => row.includes("that is no answer"));
    assert.match(told, /^ {2}a bx+…: that is no answer, nothing was done\. retry \/ stop$/);
  });

  test("has the keyboard no more when the question is closed", async (t) => {
    const person = seatPerson(t);
    const closing = new AbortController();
    const answer = personAnswerer.answer(asked("ask"), closing.signal);
    closing.abort();
    await assert.rejects(answer, { code: "CONFLICT" });
    assert.equal(person.isRaw, false);
  });
});
