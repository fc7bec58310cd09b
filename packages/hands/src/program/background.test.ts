import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BACKGROUND_LIMITS } from "@vidro/core";
import { openLogFile, readLastLines } from "./background.ts";

test("a log file is closed to others, bounded, and keeps the file before it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "program.log");
  const write = openLogFile(path);
  const line = `${"w".repeat(64 * 1024 - 1)}\n`;
  const enough = 3 * Math.ceil(BACKGROUND_LIMITS.logBytes / line.length);
  for (let count = 0; count < enough; count += 1) write(line);
  write("last\n");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  for (const file of [path, `${path}.1`])
    assert.ok(statSync(file).size <= BACKGROUND_LIMITS.logBytes + line.length, file);
  assert.deepEqual(readLastLines(path, 1), ["last"]);
  assert.deepEqual(readLastLines(path, 1, { from: statSync(path).size }), []);
  assert.deepEqual(readLastLines(path, 1, { to: statSync(path).size - 5 }), [line.trimEnd()]);
  assert.deepEqual(readLastLines(join(folder, "none"), 1), []);
  assert.ok(readFileSync(`${path}.1`).length > 0);
  openLogFile(join(folder, "no/such/folder"))("a line that is lost ends nothing\n");
});
