import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { runProgram } from "./support/installed-packages.ts";

const ROOT = resolve(import.meta.dirname, "..");

test(
  "a person with Node 20 and npm sees what the README shows, and a machine with sh and curl joins",
  { timeout: 600_000 },
  async (t) => {
    const { code, stdout, stderr } = await runProgram(process.execPath, [`${ROOT}/scripts/newcomer.js`], { cwd: ROOT });
    for (const line of stdout.trim().split("\n")) t.diagnostic(line);
    assert.equal(code, 0, stderr);
  },
);
