import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { SeededRandom } from "../support/seeded-random.ts";
import { approved, target } from "./attack.fixture.ts";
import type { Target } from "./attack.fixture.ts";

/* Patches by the hundred, made from few lines so that they fit in more than one place, beside what git makes of them. */

const CASES = 500;
const LINES = ["a", "b", "c", "}"] as const;

/** A file, and a patch that was made from one text to another. */
interface Case {
  readonly name: string;
  readonly text: string;
  readonly patch: string;
  /** Whether the patch keeps no line: git takes such a one where it says only when it is told to. */
  readonly isBare: boolean;
}

/** What git makes of a case: the text, or nothing where it does not fit exactly where the patch says. */
type Made = ReadonlyMap<string, string>;

function textBy(chance: SeededRandom): string {
  const lines = Array.from({ length: chance.whole(0, 7) }, () => chance.one(LINES));
  return lines.join("\n") + (lines.length > 0 && chance.happens(0.85) ? "\n" : "");
}

/** The text with one to three of its lines added, removed or changed, mostly near an end. */
function changedBy(chance: SeededRandom, text: string): string {
  const lines = text.split("\n").slice(0, text.endsWith("\n") || text === "" ? -1 : undefined);
  for (let changes = chance.whole(1, 3); changes > 0; changes--) {
    const at = chance.happens(0.5) ? Math.max(0, lines.length - chance.whole(0, 1)) : chance.whole(0, lines.length);
    lines.splice(at, chance.whole(0, 1), ...(chance.happens(0.6) ? [chance.one(LINES)] : []));
  }
  return lines.join("\n") + (lines.length > 0 && chance.happens(0.85) ? "\n" : "");
}

function casesBy(chance: SeededRandom): readonly Case[] {
  const cases: Case[] = [];
  while (cases.length < CASES) {
    const name = `f${cases.length}.txt`;
    const before = textBy(chance);
    const after = changedBy(chance, before);
    if (before === after) continue;
    const context = chance.one([0, 1, 3]);
    const lines = createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, undefined, undefined, {
      context,
      headerOptions: FILE_HEADERS_ONLY,
    });
    const text = chance.one([before, after, changedBy(chance, before), changedBy(chance, after), textBy(chance)]);
    const isBare = !/^ /m.test(lines);
    cases.push({ name, text, patch: `diff --git a/${name} b/${name}\n${lines}`, isBare });
  }
  return cases;
}

/** What git makes of all cases of a kind, each exactly where it says: one call finds those that fit, one applies them. */
function madeByGit(t: TestContext, cases: readonly Case[], ...options: readonly string[]): Made {
  const folder = mkdtempSync(join(tmpdir(), "vidro-patches-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, ".git"));
  for (const { name, text } of cases) writeFileSync(join(folder, name), text);
  const apply = (some: readonly Case[], ...more: readonly string[]): string => {
    const input = some.map(({ patch }) => patch).join("");
    const env = { ...process.env, LC_ALL: "C", GIT_DIR: join(folder, "none"), GIT_CEILING_DIRECTORIES: folder };
    const args = ["apply", "--verbose", "--whitespace=nowarn", ...options, ...more];
    return spawnSync("git", args, { cwd: folder, input, encoding: "utf8", env }).stderr;
  };
  const astray = new Set<string>();
  // Where a hunk leaves no lines, git begins to look one line before the place that its header means.
  const isEmptied = new Map(cases.map((one) => [one.name, /^@@ .*,0 /m.test(one.patch)]));
  let name = "";
  for (const line of apply(cases, "--check").split("\n")) {
    name = /^Checking patch (\S+)\.\.\.$/.exec(line)?.[1] ?? name;
    const failed = /^error: (?:patch failed: )?(f\d+\.txt):/.exec(line)?.[1];
    if (failed !== undefined) astray.add(failed);
    else if (/^Hunk #\d+ succeeded at/.test(line) && isEmptied.get(name) !== true) astray.add(name);
  }
  const fitting = cases.filter((one) => !astray.has(one.name));
  assert.ok(fitting.length > 0, "git made nothing of any patch");
  assert.doesNotMatch(apply(fitting), /^error/m);
  return new Map(fitting.map((one) => [one.name, readFileSync(join(folder, one.name), "utf8")]));
}

test("a patch makes what git makes of it, and is said to be in only where git could take it out", async (t) => {
  const at = await target(t);
  const cases = casesBy(new SeededRandom(9));
  const plain = cases.filter(({ isBare }) => !isBare);
  const bare = cases.filter(({ isBare }) => isBare);
  const [forth, back] = [
    new Map([...madeByGit(t, plain), ...madeByGit(t, bare, "--unidiff-zero")]),
    new Map([...madeByGit(t, plain, "--reverse"), ...madeByGit(t, bare, "--reverse", "--unidiff-zero")]),
  ];
  const count = { applied: 0, already: 0, refused: 0, undecided: 0, loose: 0 };
  for (const { name, text, patch, isBare } of cases) {
    const file = at.put(name, text);
    const { fault, text: said } = await approved(at.hand, "file_apply", { path: name, patch });
    const now = readFileSync(file, "utf8");
    const about = `${JSON.stringify(text)}\n${patch}${said}`;
    if (fault !== undefined) {
      assert.deepEqual([fault, now], ["CONFLICT", text], about);
      const isUndecided = said.includes("may be what the patch makes already");
      // Without context git also takes a hunk at another place, and joins a line without its end to the next one.
      const isLoose = isBare && said.includes("does not fit");
      assert.ok(!forth.has(name) || isUndecided || isLoose, `git applies it:\n${about}`);
      if (isUndecided) {
        const [, base_sha256 = ""] = /give base_sha256 (\w{64});/.exec(said) ?? [];
        const again = await approved(at.hand, "file_apply", { path: name, patch, base_sha256 });
        assert.deepEqual([again.fault, readFileSync(file, "utf8")], [undefined, forth.get(name)], about);
      }
      count[isUndecided ? "undecided" : forth.has(name) ? "loose" : "refused"] += 1;
    } else if (said.includes("already")) {
      assert.equal(now, text, about);
      assert.ok(back.has(name), `git cannot take it out:\n${about}`);
      count.already += 1;
    } else {
      assert.equal(forth.get(name), now, about);
      count.applied += 1;
    }
  }
  t.diagnostic(JSON.stringify(count));
  assert.ok(
    count.applied > CASES / 10 && count.already > CASES / 20 && count.refused > CASES / 20,
    JSON.stringify(count),
  );
});

test("a removal at the end of a file is made, and not said to be made where another line stands", async (t) => {
  const at = await target(t);
  const patch = "@@ -1,3 +1,2 @@\n x\n y\n-y\n";
  const file = at.put("a.txt", "x\ny\ny\n");
  assert.equal((await approved(at.hand, "file_apply", { path: "a.txt", patch })).fault, undefined);
  assert.equal(readFileSync(file, "utf8"), "x\ny\n");
  assert.match((await approved(at.hand, "file_apply", { path: "a.txt", patch })).text, /already/);
  at.put("a.txt", "x\ny\nz\n");
  assert.equal((await approved(at.hand, "file_apply", { path: "a.txt", patch })).fault, "CONFLICT");
  at.put("a.txt", "x\nz\n");
  const bare = "@@ -2 +1,0 @@\n-y\n";
  assert.equal((await approved(at.hand, "file_apply", { path: "a.txt", patch: bare })).fault, "CONFLICT");
});

/** What `git apply` makes of one patch; undefined if it refuses it. */
function gitApply(t: TestContext, text: string, patch: string, ...options: readonly string[]): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "vidro-patch-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "f.txt"), text);
  const env = { ...process.env, LC_ALL: "C", GIT_DIR: join(folder, "none"), GIT_CEILING_DIRECTORIES: folder };
  const args = ["apply", "--whitespace=nowarn", ...options];
  const { status } = spawnSync("git", args, { cwd: folder, input: patch, env });
  return status === 0 ? readFileSync(join(folder, "f.txt"), "utf8") : undefined;
}

/** The text of a file after a patch of it, or the code of the fault. */
async function applyTo(at: Target, text: string, patch: string): Promise<{ text: string } | { fault: string }> {
  const file = at.put("f.txt", text);
  const input = { path: "f.txt", patch };
  const judgement = await at.hand.judge({ id: "act_patch", tool: "file_apply", input, callId: "call" });
  const fault = "code" in judgement ? judgement.code : (await approved(at.hand, "file_apply", input)).fault;
  const now = readFileSync(file, "utf8");
  if (fault !== undefined) assert.equal(now, text, "a patch that failed changed the file");
  return fault === undefined ? { text: now } : { fault };
}

function diffOf(before: string, after: string, context = 3): string {
  const options = { context, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch("a/f.txt", "b/f.txt", before, after, undefined, undefined, options);
}

test("a patch that is cut off anywhere near its end is refused where git refuses it", async (t) => {
  const at = await target(t);
  const chance = new SeededRandom(21);
  let refused = 0;
  for (let round = 0; round < 12; round++) {
    const before = textBy(chance);
    const after = changedBy(chance, before);
    if (before === after) continue;
    const patch = diffOf(before, after);
    for (let cut = 1; cut <= 12 && patch.length - cut > 30; cut++) {
      const part = patch.slice(0, -cut);
      const made = gitApply(t, before, part);
      const result = await applyTo(at, before, part);
      const about = JSON.stringify([before, part, result]);
      // Where git takes a part of a patch for a whole, the part of a marker or of a header behind it is garbage to it.
      if ("text" in result) assert.equal(result.text, made, about);
      else {
        assert.equal(result.fault, "BAD_ARGUMENTS", about);
        refused += 1;
      }
    }
  }
  t.diagnostic(`${refused} refused`);
  assert.ok(refused > 60);
  for (const [text, patch] of [
    ["j\nh\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,3 @@\n j\n h\n+"],
    ["é\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-é\n"],
    ["é\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-é"],
    ["", "--- a/f.txt\n+++ b/f.txt\n@@ -0,0 +1 @@\n+a\n\\ No ne"],
    ["a\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-a\n+b\n@"],
    ["a\n", "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n a\n"],
  ] as const)
    assert.deepEqual(await applyTo(at, text, patch), { fault: "BAD_ARGUMENTS" }, patch);
});

test("hunks without context make what git makes of them, and the same addition twice is refused", async (t) => {
  const at = await target(t);
  const chance = new SeededRandom(33);
  const letters = Array.from("abcdefghijklmnop");
  for (let round = 0; round < 60; round++) {
    const before = letters.slice(0, chance.whole(3, 16)).join("\n");
    const after = changedBy(chance, changedBy(chance, `${before}\n`));
    if (after === `${before}\n`) continue;
    const patch = diffOf(`${before}\n`, after, 0);
    const made = gitApply(t, `${before}\n`, patch, "--unidiff-zero");
    assert.equal(made, after);
    assert.deepEqual(await applyTo(at, `${before}\n`, patch), { text: after }, patch);
  }
  // The deletion would fit a second time, but the addition shows that nothing is applied yet.
  const both = "--- a/f.txt\n+++ b/f.txt\n@@ -1,0 +2 @@\n+new\n@@ -3 +3,0 @@\n-  \n";
  assert.deepEqual(await applyTo(at, "}\n  \n  \n", both), { text: "}\nnew\n  \n" });
  const twice = "--- a/f.txt\n+++ b/f.txt\n@@ -0,0 +1 @@\n+x\n@@ -0,0 +1 @@\n+x\n";
  assert.equal(gitApply(t, "", twice), undefined);
  assert.deepEqual(await applyTo(at, "", twice), { fault: "CONFLICT" });
});

test("the signature of a mail behind a patch is no part of it, and another file behind it is refused", async (t) => {
  const at = await target(t);
  const patch = diffOf("a\nb\n", "a\nc\n");
  for (const trailer of ["-- \n2.39\n", "-- \n2.39.2\n\n", "-- \n2.39", "\n", "-- \r\n2.39\n"]) {
    assert.equal(gitApply(t, "a\nb\n", patch + trailer), "a\nc\n");
    assert.deepEqual(await applyTo(at, "a\nb\n", patch + trailer), { text: "a\nc\n" }, trailer);
  }
  const mails = `${patch}-- \n2.39\n${diffOf("a\n", "b\n").replaceAll("f.txt", "g.txt")}`;
  assert.deepEqual(await applyTo(at, "a\nb\n", mails), { fault: "BAD_ARGUMENTS" });
});

test("a patch that made a file out of nothing, or emptied it, is already in", async (t) => {
  const at = await target(t);
  for (const [before, after] of [
    ["", "x\n"],
    ["", "x"],
    ["", "a\nb\nc\n"],
    ["a\n", ""],
    ["a\nb\n", ""],
  ] as const) {
    at.put("f.txt", after);
    const { fault, text } = await approved(at.hand, "file_apply", { path: "f.txt", patch: diffOf(before, after) });
    assert.deepEqual([fault, /already/.test(text)], [undefined, true], JSON.stringify([before, after]));
  }
});

test("a hunk that git finds at another place is refused with the patch that makes the same of the file as it is", async (t) => {
  const at = await target(t);
  const before = Array.from("abcdefghijkl", (letter) => `${letter}\n`).join("");
  const patch = diffOf(before, before.replace("f\n", "F\n"));
  const moved = `new\nlines\n${before}`;
  const made = gitApply(t, moved, patch);
  assert.equal(made, moved.replace("f\n", "F\n"));
  const file = at.put("f.txt", moved);
  const { fault, text } = await approved(at.hand, "file_apply", { path: "f.txt", patch });
  assert.deepEqual([fault, readFileSync(file, "utf8")], ["CONFLICT", moved]);
  const [, fresh = ""] = text.split("this is the same change made for the file as it is now:\n");
  assert.deepEqual(await applyTo(at, moved, fresh), { text: made });
});
