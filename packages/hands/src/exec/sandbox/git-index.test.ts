import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { makeRepository, type Repository } from "./git-view.fixture.ts";
import { parseIndex, skipEntries, type GitIndex } from "./git-index.ts";

const NAMES = ["a", "b/c", "b/cd", "b/ção 漢字", "b/x y", "long/".repeat(30) + "name", "z"];
const FILES = Object.fromEntries(NAMES.map((name) => [name, `${name}\n`]));

const indexOf = (repository: Repository): Buffer => readFileSync(repository.at(".git/index"));

/** Entries as git itself lists them: mode, hash, stage and name. */
function listedBy(repository: Repository): readonly string[] {
  return repository
    .git("ls-files", "--stage", "-z")
    .split("\0")
    .filter((line) => line !== "");
}

const listed = ({ entries }: GitIndex): readonly string[] =>
  entries.map(({ mode, hash, path }) => `${mode.toString(8)} ${hash} 0\t${path}`);

/** The bytes with the hash with which an index ends. */
const summed = (body: Buffer): Buffer => Buffer.concat([body, createHash("sha1").update(body).digest()]);

/** An index of version 4 with entries that keep all of the name before but `strip` bytes, and add `add`. */
function packedIndex(
  entries: readonly { readonly strip: number; readonly add: string; readonly stage?: number }[],
): Buffer {
  const header = Buffer.alloc(12);
  header.write("DIRC");
  header.writeUInt32BE(4, 4);
  header.writeUInt32BE(entries.length, 8);
  const parts = entries.map(({ strip, add, stage = 0 }) => {
    const fixed = Buffer.alloc(62);
    fixed.writeUInt16BE(stage << 12, 60);
    return Buffer.concat([fixed, Buffer.of(strip), Buffer.from(`${add}\0`)]);
  });
  return summed(Buffer.concat([header, ...parts]));
}

for (const version of ["2", "3", "4"])
  for (const format of ["sha1", "sha256"])
    test(`an index of version ${version} with ${format} has the entries that git lists`, (t) => {
      const repository = makeRepository(t, FILES, format);
      // Only an entry with further flags makes git write version 3.
      if (version === "3") repository.git("update-index", "--skip-worktree", "z");
      else repository.git("update-index", "--index-version", version);
      const index = parseIndex(indexOf(repository));
      assert.deepEqual([index.version, index.algorithm], [Number(version), format]);
      assert.deepEqual(listed(index), listedBy(repository));
      assert.deepEqual(
        index.entries.map(({ isLeftAlone }) => isLeftAlone),
        NAMES.map((name) => version === "3" && name === "z"),
      );
    });

for (const version of ["2", "4"])
  test(`git reads an index of version ${version} with entries that are skipped, and skips exactly those`, (t) => {
    const repository = makeRepository(t, FILES);
    repository.git("update-index", "--index-version", version);
    const index = parseIndex(indexOf(repository));
    for (const skipped of [[], [0], [6], [0, 1, 2, 3, 4, 5, 6], [1, 4]]) {
      const bytes = skipEntries(
        index,
        skipped.map((at) => index.entries[at]!),
      );
      const again = parseIndex(bytes);
      assert.deepEqual(listed(again), listed(index));
      assert.deepEqual(
        again.entries.flatMap(({ isLeftAlone }, at) => (isLeftAlone ? [at] : [])),
        skipped,
      );
      assert.ok(bytes.equals(skipEntries(again, [])), "an index in which nothing is skipped any more stays as it is");
    }
  });

test("both sides of a conflict are told, and a file that is assumed unchanged is left alone", (t) => {
  const repository = makeRepository(t, { a: "1\n", b: "1\n" });
  repository.git("checkout", "-qb", "other");
  repository.write("a", "2\n");
  repository.git("commit", "-qam", "second");
  repository.git("checkout", "-q", "main");
  repository.write("a", "3\n");
  repository.git("commit", "-qam", "third");
  assert.throws(() => repository.git("merge", "-q", "other"));
  repository.git("update-index", "--assume-unchanged", "b");
  const { entries } = parseIndex(indexOf(repository));
  assert.deepEqual(
    entries.map(({ path, isConflict, isLeftAlone }) => [path, isConflict, isLeftAlone]),
    [
      ["a", true, false],
      ["a", true, false],
      ["a", true, false],
      ["b", false, true],
    ],
  );
});

test("an index that is cut off at any byte, or has any byte changed, is refused with a RangeError or read", (t) => {
  const repository = makeRepository(t, { a: "1\n", "b/c": "2\n" });
  for (const version of ["2", "4"]) {
    repository.git("update-index", "--index-version", version);
    const whole = indexOf(repository);
    for (let length = 0; length < whole.length; length += 1) {
      assert.throws(() => parseIndex(whole.subarray(0, length)), RangeError, `${length} bytes`);
      const body = Buffer.from(whole.subarray(0, -20));
      if (length >= body.length) continue;
      body[length] = (body[length] ?? 0) ^ 0xff;
      try {
        skipEntries(parseIndex(summed(body)), []);
      } catch (thrown) {
        assert.ok(thrown instanceof RangeError, `byte ${length}: ${String(thrown)}`);
      }
    }
  }
});

test("a header that counts more entries than there are ends where the bytes do", () => {
  const body = Buffer.alloc(12);
  body.write("DIRC");
  body.writeUInt32BE(2, 4);
  body.writeUInt32BE(0xffffffff, 8);
  assert.throws(() => parseIndex(summed(body)), RangeError);
  body.writeUInt32BE(0, 8);
  assert.deepEqual(parseIndex(summed(body)).entries, []);
});

test("entries out of their order, and one file named again and again, are refused as git refuses them", () => {
  const read = (...entries: Parameters<typeof packedIndex>[0]): number =>
    parseIndex(packedIndex(entries)).entries.length;
  assert.equal(read({ strip: 0, add: "a" }, { strip: 0, add: "b" }), 2);
  assert.equal(
    read({ strip: 0, add: "a", stage: 1 }, { strip: 0, add: "", stage: 2 }, { strip: 0, add: "", stage: 3 }),
    3,
  );
  assert.throws(() => read({ strip: 0, add: "b" }, { strip: 1, add: "a" }), /out of order/);
  assert.throws(() => read({ strip: 0, add: "a" }, { strip: 0, add: "" }), /out of order/);
  assert.throws(() => read({ strip: 0, add: "a", stage: 2 }, { strip: 0, add: "", stage: 1 }), /out of order/);
  assert.throws(() => read({ strip: 9, add: "a" }), /damaged/);
});

test("names that grow by what they keep of the name before end at the bound, not with the memory of the hand", () => {
  const growing = Array.from({ length: 20_000 }, () => ({ strip: 0, add: "x" }));
  assert.throws(() => parseIndex(packedIndex(growing)), /names of the index are too long/);
  assert.equal(parseIndex(packedIndex(growing.slice(0, 2000))).entries.length, 2000);
});

test("extensions stay in an index, but for those that hold offsets", (t) => {
  const repository = makeRepository(t, { a: "1\n", "b/c": "2\n" });
  repository.git("write-tree");
  const index = parseIndex(indexOf(repository));
  const extension = (name: string, size: number): Buffer => {
    const bytes = Buffer.alloc(8 + size, 7);
    bytes.write(name);
    bytes.writeUInt32BE(size, 4);
    return bytes;
  };
  const entries = index.bytes.subarray(0, index.entriesEnd);
  const body = Buffer.concat([entries, extension("TREE", 5), extension("EOIE", 24), extension("IEOT", 0)]);
  const kept = skipEntries(parseIndex(summed(body)), []).toString("latin1");
  assert.ok(kept.includes("TREE"));
  assert.ok(!kept.includes("EOIE") && !kept.includes("IEOT"));
  const lying = Buffer.concat([entries, extension("TREE", 5).fill(0xff, 4, 8)]);
  assert.doesNotThrow(() => skipEntries(parseIndex(summed(lying)), []));
});
