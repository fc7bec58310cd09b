import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { isPattern, matchesPath, matchesWord, meanings, normalPath, pathMisfit } from "./path.ts";
import type { Policy } from "./rule.ts";

const places = { workspace: "/srv/work", home: "/home/ada", state: "/home/ada/.vidro" };

/** A policy on a host with these links, each path leading to where it really leads. */
const policyWith = (links: { readonly [path: string]: string }): Policy => ({
  trusted: [],
  secrets: ["{state}/**", "/etc/shadow*", "{home}/.*_history"],
  env: {},
  rules: [],
  places,
  real: (path) => links[path],
});

const READABLE = { paths: ["{workspace}/**", "/etc/**"] };

const misfit = (word: string, links: { readonly [path: string]: string }, deep = false): string | undefined =>
  pathMisfit(word, deep ? { ...READABLE, deep } : READABLE, {
    cwd: places.workspace,
    policy: policyWith(links),
    showsContent: true,
  });

test("a word means what its letters say and what its links lead to, seen with its letters as they are", () => {
  const policy = policyWith({ "/srv/work/link/../x": "/opt/x" });
  assert.deepEqual(meanings("link/../x", "/srv/work", policy), ["/srv/work/x", "/opt/x"]);
  assert.deepEqual(meanings("y", "/srv/work", policy), ["/srv/work/y"]);
});

test("a link in the workspace may lead to where a rule reaches, and not beyond", () => {
  assert.equal(misfit("a", { "/srv/work/a": "/srv/work/b" }), undefined);
  assert.equal(misfit("a", { "/srv/work/a": "/etc/hosts" }), undefined);
  assert.match(misfit("a", { "/srv/work/a": "/opt/b" }) ?? "", /\/opt\/b is not under/);
  assert.match(misfit("a/../b", { "/srv/work/a/../b": "/opt/b" }) ?? "", /\/opt\/b is not under/);
});

test("a link of the host may lead anywhere but to a secret", () => {
  assert.equal(misfit("/etc/os-release", { "/etc/os-release": "/usr/lib/os-release" }), undefined);
  for (const secret of ["/etc/shadow-", "/home/ada/.vidro/token", "/home/ada/.bash_history"])
    assert.match(misfit("/etc/x", { "/etc/x": secret }) ?? "", /is a secret/, secret);
});

test("what is read with all that lies below it has no secret below it, by its letters or behind its links", () => {
  assert.match(misfit("a", { "/srv/work/a": "/etc" }, true) ?? "", /below \/etc are secrets/);
  assert.match(misfit("/etc", {}, true) ?? "", /below \/etc are secrets/);
  assert.equal(misfit("a", { "/srv/work/a": "/srv/work/b" }, true), undefined);
});

test("a pattern matches what lies below it when it ends in two stars, and else what is as deep", () => {
  const name = fc.stringMatching(/^[a-z]{1,3}$/);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), fc.array(name, { maxLength: 4 }), (folder, below) => {
      const [root, path] = [`/${folder.join("/")}`, `/${[...folder, ...below].join("/")}`];
      const open = folder.length === 0 ? "/**" : `${root}/**`;
      assert.equal(matchesPath([open], path, places), true);
      assert.equal(matchesPath([root], path, places), below.length === 0);
    }),
  );
});

test("a word matches a pattern as a regular expression of the same meaning does", () => {
  const letter = fc.constantFrom("a", "b", "*", ".", "/", "😀", "(", "\\");
  fc.assert(
    fc.property(
      fc.array(letter, { maxLength: 6 }).map((letters) => letters.join("")),
      fc
        .array(fc.constantFrom("a", "b", ".", "/", "😀", "(", "\\"), { maxLength: 8 })
        .map((letters) => letters.join("")),
      (pattern, text) => {
        const source = pattern.replaceAll(/[.()\\/]/g, String.raw`\$&`).replaceAll("*", "[^]*");
        assert.equal(matchesWord(pattern, text), new RegExp(`^${source}$`).test(text), `${pattern} on ${text}`);
      },
    ),
    { numRuns: 2000 },
  );
});

test("a pattern of many stars takes no time that grows with their number", () => {
  assert.equal(matchesWord("a*".repeat(2000), "a".repeat(100_000)), true);
  assert.equal(matchesWord(`${"*a".repeat(500)}*b`, "a".repeat(100_000)), false);
});

test("a path is made absolute and plain as the system would, for any words and folders", () => {
  const word = fc.array(fc.constantFrom("a", "..", ".", "", "b c", "...", "~", "*"), { maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.boolean(), (names, folder, isAbsolute) => {
      const [path, cwd] = [`${isAbsolute ? "/" : ""}${names.join("/")}`, `/${folder.join("/")}`];
      assert.equal(normalPath(path, cwd), posix.resolve(cwd, path === "" ? "." : path));
    }),
    { numRuns: 1000 },
  );
});

test("a star in the name of a folder of the host is a letter, and one in a pattern is not", () => {
  const odd = { workspace: "/srv/w*rk", home: "/home/{home}", state: "/state" };
  assert.equal(matchesPath(["{workspace}/a*"], "/srv/w*rk/abc", odd), true);
  assert.equal(matchesPath(["{workspace}/a*"], "/srv/work/abc", odd), false);
  assert.equal(matchesPath(["{home}/**"], "/home/{home}/x", odd), true);
});

test("a name at any depth is found below its place and nowhere else", () => {
  const anywhere = ["{workspace}/**/.env*"];
  for (const [path, isFound] of [
    ["/srv/work/.env", true],
    ["/srv/work/a/b/c/.env.local", true],
    ["/srv/work/.env/inside", false],
    ["/srv/other/.env", false],
    ["/srv/work-not/.env", false],
    ["/srv/work/x.env", false],
    ["/srv/work", false],
  ] as const)
    assert.equal(matchesPath(anywhere, path, places), isFound, path);
});

test("texts that are no patterns are told apart from those that are", () => {
  for (const text of ["/", "/a", "/a/*", "/a/**", "{home}", "{home}/a", "{state}/**", "{workspace}/**/.env*", "/a*b"])
    assert.equal(isPattern(text), true, text);
  for (const text of [
    "",
    "a",
    "./a",
    "{other}/a",
    "{home}a",
    "/a/../b",
    "/a/.",
    "/a**b",
    "/**/b",
    "/{home}",
    "{workspace}/**/a/b",
    "{workspace}/**/..",
  ])
    assert.equal(isPattern(text), false, text);
});
