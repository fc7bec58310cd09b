import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BACKGROUND_LIMITS } from "@vidro/core";
import { openLogFile, readLastLines, startDetached, waitUntil } from "./background.ts";

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

test("the last lines of a file are those between two places, whole where they can be", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "a.log");
  const rows: readonly (readonly [text: string, count: number, lines: readonly string[]])[] = [
    ["", 3, []],
    ["\n", 3, [""]],
    ["one", 3, ["one"]],
    ["one\n", 3, ["one"]],
    ["one\ntwo", 1, ["two"]],
    ["one\ntwo\n\n", 2, ["two", ""]],
    ["one\ntwo\n", 0, []],
    ["\u{1F600}é\n", 1, ["\u{1F600}é"]],
  ];
  for (const [text, count, lines] of rows) {
    writeFileSync(path, text);
    assert.deepEqual(readLastLines(path, count), lines, JSON.stringify([text, count]));
  }
  writeFileSync(path, "one\ntwo\nthree\n");
  assert.deepEqual(readLastLines(path, 9, { from: 4 }), ["two", "three"]);
  assert.deepEqual(readLastLines(path, 9, { from: 4, to: 8 }), ["two"]);
  // A file that was begun anew meanwhile is read from its beginning.
  assert.deepEqual(readLastLines(path, 9, { from: 1000 }), ["one", "two", "three"]);
  assert.deepEqual(readLastLines(folder, 9), []);
});

test("of a very long file only its end is looked at", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "a.log");
  writeFileSync(path, `first\n${"x".repeat(BACKGROUND_LIMITS.tailBytes)}\nlast\n`);
  const lines = readLastLines(path, 9);
  assert.equal(lines.length, 2);
  assert.equal(lines.at(-1), "last");
});

test("a program in the background has its own session, appends to its log and outlives nothing that it was given", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = join(folder, "a.log");
  writeFileSync(log, "before\n", { mode: 0o644 });
  const script = 'echo "out $A"; echo err >&2; ps -o sid= -p $$; pwd';
  const child = startDetached({
    argv: ["/bin/sh", "-c", script],
    cwd: folder,
    log,
    env: { A: "1", PATH: "/usr/bin:/bin" },
  });
  await once(child, "exit");
  const [first, out, err, session, cwd] = readFileSync(log, "utf8").split("\n");
  assert.deepEqual([first, out, err, cwd], ["before", "out 1", "err", realpathSync(folder)]);
  assert.equal(Number(session), child.pid);
  assert.equal(statSync(log).mode & 0o777, 0o600);
});

test("a program that is not there is an error of its process, and a log that cannot be opened is thrown", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "vidro-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const child = startDetached({ argv: [join(folder, "gone")], cwd: folder, log: join(folder, "a.log") });
  const [error] = (await once(child, "error")) as [Error & { code: string }];
  assert.equal(error.code, "ENOENT");
  assert.throws(() => startDetached({ argv: ["/bin/true"], cwd: folder, log: join(folder, "no/a.log") }));
});

test("waiting ends when something is so, or when its time is over, and passes on what its question throws", async () => {
  let asked = 0;
  assert.equal(await waitUntil(() => (asked += 1) === 3, 60_000), true);
  assert.equal(asked, 3);
  assert.equal(await waitUntil(async () => false, 0), false);
  assert.equal(await waitUntil(() => true, 0), true);
  await assert.rejects(
    waitUntil(() => Promise.reject(new Error("no answer")), 60_000),
    /no answer/,
  );
});
