import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { WORDS } from "../../packages/console/src/words/words.ts";

/* The words of the console. The type of `translate` refuses a phrase without a row; these tests see the rest. */

const FOLDER = resolve(import.meta.dirname, "../../packages/console/src");
const SOURCES = globSync("{*.tsx,brain/**,pages/**,parts/**,run/**}", { cwd: FOLDER })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(FOLDER, path), "utf8") }));

/** What fields show as an example of what to type. */
const EXAMPLES = new Set(["df -h", "web-1", "web, eu"]);

/** The values that a phrase asks for. */
function valuesIn(phrase: string): readonly string[] {
  return [...phrase.matchAll(/\{\w+\}/g)].map(([value]) => value).sort();
}

test("every phrase has words in each language, with the same values", () => {
  for (const [english, row] of Object.entries(WORDS)) {
    assert.equal(row.length, 2, english);
    for (const words of row) {
      assert.notEqual(words.trim(), "", english);
      assert.deepEqual(valuesIn(words), valuesIn(english), `${english} → ${words}`);
    }
  }
});

test("every phrase is said somewhere", () => {
  const all = SOURCES.map(({ text }) => text).join("\n");
  const isSaid = (english: string): boolean => {
    const [, noun] = /^\{n\} (.+?)s?$/.exec(english) ?? [];
    return (
      all.includes(`"${english}"`) ||
      (noun !== undefined && new RegExp(`countOf\\([^)]*"${noun}"`).test(all)) ||
      (/^\w+$/.test(english) && new RegExp(`\\b${english}: |"${english}"`).test(all))
    );
  };
  assert.deepEqual(
    Object.keys(WORDS).filter((english) => !isSaid(english)),
    [],
  );
});

test("no page has a text of its own: what is between tags and what is read out goes through the words", () => {
  const offenders = SOURCES.flatMap(({ path, text }) => {
    const between = [...text.matchAll(/>\s*([A-Z][a-z]+(?: [\w,.…]+)*)\s*</g)];
    const readOut = [...text.matchAll(/(?:aria-label|title|label|placeholder)="([A-Za-z][^"]*)"/g)];
    const found = [...between, ...readOut].map(([, words = ""]) => words);
    return found.filter((words) => words !== "Promise" && !EXAMPLES.has(words)).map((words) => `${path}: ${words}`);
  });
  assert.deepEqual(offenders, []);
});
