import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { matchesPath, meanings, pathMisfit } from "./path.ts";
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
