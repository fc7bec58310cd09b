import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const README = readFileSync(`${FOLDER}README.md`, "utf8");

test("each example of the README prints what its comments say", async () => {
  const examples = [...README.matchAll(/```js \S+\n(.*?)\n```/gs)].map(([, code = ""]) => code);
  assert.equal(examples.length, 2);
  for (const code of examples) {
    const printed = [...code.matchAll(/console\.log.*\/\/ (.*)/g)].map(([, text = ""]) => text);
    const flags = ["--conditions=vidro-source", "--input-type=module", "--eval"];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, code], { cwd: FOLDER });
    assert.deepEqual(stdout.trimEnd().split("\n"), printed);
  }
});
