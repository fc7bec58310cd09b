import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { understand } from "../../packages/brain/src/models/offline/understand.ts";
import { saidInWays } from "../../scripts/train/learn.ts";
import { readPhrases } from "../../scripts/train/phrases.ts";
import type { Want } from "../../packages/brain/src/models/offline/want.ts";
import { questionsIn, wantKey } from "./questions.ts";
import type { UnseenQuestion } from "./questions.ts";

/** Of a hundred questions that were never taught: how many have to be right at least, and wrong at most. */
const LEAST_RIGHT = 90;
const MOST_WRONG = 2;

type Judgement = "right" | "refused" | "wrong";

function judge({ text, before, wants, others }: UnseenQuestion): Judgement {
  const understood = keyOf(understand(text, before === undefined ? undefined : understand(before)).wants);
  if ([wants, ...others].some((each) => understood === keyOf(each))) return "right";
  return understood === "" ? "refused" : "wrong";
}

const keyOf = (wants: readonly Want[]): string => wants.map(wantKey).join("\n");

function shareOf(judged: readonly { judgement: Judgement }[], judgement: Judgement): number {
  return (judged.filter((each) => each.judgement === judgement).length / judged.length) * 100;
}

const FILES = [
  "first.txt",
  "second.txt",
  "third.txt",
  "fourth.txt",
  "fifth.txt",
  "sixth.txt",
  "seventh.txt",
  "eighth.txt",
  "ninth.txt",
  "tenth.txt",
  "eleventh.txt",
  "twelfth.txt",
  "thirteenth.txt",
  "fourteenth.txt",
  "fifteenth.txt",
  "sixteenth.txt",
  "seventeenth.txt",
  "eighteenth.txt",
  "nineteenth.txt",
  "twentieth.txt",
  "twenty-first.txt",
  "twenty-second.txt",
  "twenty-third.txt",
  "twenty-fourth.txt",
];

for (const file of FILES) {
  test(`of the questions in ${file}, at least 90 of 100 are taken for what they are and at most 2 for something else`, (t) => {
    const judged = questionsIn(file).map((each) => ({ ...each, judgement: judge(each) }));
    const missed = judged.filter((each) => each.judgement !== "right").map((each) => `${each.judgement}: ${each.text}`);
    for (const language of ["en", "pt", "es"] as const) {
      const own = judged.filter((each) => each.language === language);
      const right = shareOf(own, "right");
      t.diagnostic(
        `${language}: ${own.length} questions, ${right.toFixed(1)} % right, ${shareOf(own, "wrong").toFixed(1)} % wrong`,
      );
      assert.ok(right >= LEAST_RIGHT, missed.join("\n"));
    }
    assert.ok(shareOf(judged, "wrong") <= MOST_WRONG, missed.join("\n"));
  });

  test(`the questions in ${file} are answered in the language that they are asked in`, () => {
    const others = questionsIn(file).filter(
      ({ text, language, wants }) => wants[0]?.kind !== "run" && understand(text).language !== language,
    );
    assert.ok(others.length <= questionsIn(file).length / 50, others.map(({ text }) => text).join("\n"));
  });
}

test("no unseen question is among the phrases", () => {
  const said = readPhrases().flatMap(saidInWays);
  const taught = new Set(said.map(({ text }) => text.toLowerCase().replace(/[¿?.!]/g, "")));
  const seen = FILES.flatMap((file) => questionsIn(file)).filter(({ text }) =>
    taught.has(text.toLowerCase().replace(/[¿?.!]/g, "")),
  );
  assert.deepEqual(
    seen.map(({ text }) => text),
    [],
  );
});

test("the tasks that the command line suggests are understood", () => {
  const folder = `${import.meta.dirname}/../../packages/cli/src`;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!test|fixture)\.ts$/.test(file),
  );
  const suggested = files.flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, "utf8").matchAll(/vidro run "([a-z][^"$]*)"/g)].map(([, task = ""]) => task),
  );
  assert.ok(suggested.length >= 3, suggested.join("\n"));
  assert.deepEqual(
    suggested.filter((task) => understand(task).wants.length === 0),
    [],
  );
});
