import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { blocksOf } from "./support/doc-page.ts";

const ROOT = resolve(import.meta.dirname, "..");
const ENGLISH = readFileSync(join(ROOT, "README.md"), "utf8");

/** A README without its blocks of code. */
const proseOf = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, "");

/** The levels of the headings, in order. */
function levelsOf(text: string): readonly string[] {
  return proseOf(text).match(/^#+(?= )/gm) ?? [];
}

for (const name of ["README.pt-BR.md", "README.es.md"])
  test(`${name} has the headings and the blocks of code of README.md`, () => {
    const text = readFileSync(join(ROOT, name), "utf8");
    assert.deepEqual(levelsOf(text), levelsOf(ENGLISH));
    assert.deepEqual(
      blocksOf(text).map((block) => block.text),
      blocksOf(ENGLISH).map((block) => block.text),
    );
    assert.match(text, /^# Vidro\n\n.*\[English\]\(README\.md\)/);
  });
