import assert from "node:assert/strict";
import { matchesGlob } from "node:path";
import { test } from "node:test";
import { HAND_LIMITS } from "@vidro/core";
import * as fc from "fast-check";
import { compileGlob } from "./glob.ts";

const MATCHES: [string, string][] = [
  ["*.ts", "a.ts"],
  ["**/*.ts", "a.ts"],
  ["**/*.ts", "a/b/c.ts"],
  ["src/**", "src/a/b"],
  ["a?c", "abc"],
  ["[a-c]x", "bx"],
  ["[!a-c]x", "dx"],
  ["[]]x", "]x"],
  ["[x", "[x"],
  ["{a,b}/{c,d}.md", "b/c.md"],
  ["{src,tests/{unit,e2e}}/*.ts", "tests/e2e/a.ts"],
  ["{only}", "{only}"],
  ["\\*", "*"],
  ["*", ".hidden"],
  ["?", "é"],
  ["./a", "a"],
];
for (const [pattern, path] of MATCHES) {
  void test(`the glob ${pattern} matches ${path}`, () => assert.equal(compileGlob(pattern).matches(path), true));
}

const MISSES: [string, string][] = [
  ["*.ts", "a/b.ts"],
  ["a/**", "a"],
  ["a?c", "a/c"],
  ["[!a-c]x", "ax"],
  ["\\*", "a"],
  ["a", "A"],
];
for (const [pattern, path] of MISSES) {
  void test(`the glob ${pattern} does not match ${path}`, () =>
    assert.equal(compileGlob(pattern).matches(path), false));
}

void test("a glob knows which folders are worth entering", () => {
  const found = compileGlob("src/*/x.ts");
  assert.deepEqual(
    ["", "src", "src/a", "src/a/b", "lib"].map((folder) => found.reaches(folder)),
    [true, true, true, false, false],
  );
  assert.equal(compileGlob("**/x").reaches("any/depth/at/all"), true);
});

void test("a glob knows the names that are written out", () => {
  assert.equal(compileGlob("{a,node_modules}/**").names("node_modules"), true);
  assert.equal(compileGlob("**/*modules").names("node_modules"), false);
});

void test("a glob refuses braces that stand for too many patterns", () => {
  assert.throws(() => compileGlob("{a,b}".repeat(10)), { code: "BAD_ARGUMENTS" });
});

void test("a glob refuses a pattern beyond its bound", () => {
  assert.throws(() => compileGlob("a".repeat(HAND_LIMITS.globChars + 1)), { code: "BAD_ARGUMENTS" });
});

void test("a glob is quick on a pattern that makes backtracking matchers explode", () => {
  const started = process.cpuUsage();
  assert.equal(compileGlob(`${"*a".repeat(400)}b`).matches("a".repeat(4000)), false);
  assert.equal(compileGlob(`${"**/a/".repeat(100)}b`).matches("a/".repeat(1000)), false);
  assert.ok(process.cpuUsage(started).user < 2_000_000, "microseconds at work");
});

void test("a glob agrees with node:path on every pattern of the subset", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 3 });
  const piece = fc.oneof(name, fc.constantFrom("*", "?", "[ab]", "[!a]", "{a,b}", "{a,bc,c}"));
  const part = fc.oneof(fc.array(piece, { minLength: 1, maxLength: 3 }).map(joined), fc.constant("**"));
  const parts = fc.array(part, { minLength: 1, maxLength: 4 }).map((all) => all.join("/"));
  const pattern = parts.filter((one) => 3 ** (one.split("{").length - 1) <= HAND_LIMITS.globBranches);
  const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(pattern, path, (one, other) => {
      assert.equal(compileGlob(one).matches(other), matchesGlob(other, one), `${one} on ${other}`);
    }),
    { numRuns: 2000 },
  );
});

void test("a glob reaches every folder on the way to a match", () => {
  const part = fc.constantFrom("a", "*", "**", "{a,b}", "[ab]");
  const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const path = fc.array(fc.constantFrom("a", "b"), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(pattern, path, (one, names) => {
      if (!compileGlob(one).matches(names.join("/"))) return;
      for (let depth = 1; depth < names.length; depth += 1) {
        assert.ok(compileGlob(one).reaches(names.slice(0, depth).join("/")));
      }
    }),
  );
});

/** Two stars side by side mean something else than one, so they are kept apart. */
function joined(pieces: string[]): string {
  return pieces.join("").replaceAll(/\*+/g, "*");
}
