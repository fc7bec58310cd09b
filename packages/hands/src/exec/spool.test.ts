import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import { pruneSpools, readSpool, Spool } from "./spool.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "vidro-spool-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test("a spool that is wanted keeps all that was written, closed to others; one that is not leaves nothing", (t) => {
  const path = join(folder(t), "a.out");
  writeFileSync(path, "left behind", { mode: 0o644 });
  const spool = new Spool(path);
  spool.take(Buffer.from("one "));
  spool.take(Buffer.from("two"));
  assert.equal(readSpool(path), "one two", "it can be read while the action runs");
  assert.equal(spool.finish(true), true);
  spool.take(Buffer.from("late"));
  assert.equal(spool.finish(true), false, "it is finished once");
  assert.equal(readFileSync(path, "utf8"), "one two");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const other = new Spool(path);
  other.take(Buffer.from("x"));
  assert.equal(other.finish(false), false);
  assert.equal(existsSync(path), false);
});

test("an action without output has no spool, and a folder that cannot be written ends only the spool", (t) => {
  const path = folder(t);
  assert.equal(new Spool(join(path, "a.out")).finish(true), false);
  assert.deepEqual(readdirSync(path), []);
  assert.equal(readSpool(join(path, "a.out")), undefined);
  const lost = new Spool(join(path, "missing", "a.out"));
  lost.take(Buffer.from("x"));
  assert.equal(lost.finish(true), false);
});

test("the beginning of a long spool is cut between two characters", (t) => {
  const path = join(folder(t), "a.out");
  writeFileSync(path, `${"x".repeat(HAND_LIMITS.headBytes - 1)}ü`);
  assert.equal(readSpool(path), "x".repeat(HAND_LIMITS.headBytes - 1));
});

test("spools that are too old are removed, and a folder among them does no harm", (t) => {
  const path = folder(t);
  const now = Date.now();
  for (const name of ["old.out", "new.out"]) writeFileSync(join(path, name), name);
  const past = (now - HAND_LIMITS.ledgerMs - 1000) / 1000;
  utimesSync(join(path, "old.out"), past, past);
  mkdirSync(join(path, "folder"));
  utimesSync(join(path, "folder"), past, past);
  pruneSpools(path, now);
  assert.deepEqual(readdirSync(path).toSorted(), ["folder", "new.out"]);
});
