import assert from "node:assert/strict";
import { test } from "node:test";
import { TOKEN_LIMITS } from "@vidro/core";
import { checkScopes, grants, isAdmin, ROLES } from "./scopes.ts";
import { DUMMY_HASH, hashSecret, isHashOf } from "./secret-hash.ts";
import { TokenCache } from "./token-cache.ts";

test("a hash belongs to its secret only, and two hashes of one secret differ", async () => {
  const [one, other] = await Promise.all([hashSecret("secret"), hashSecret("secret")]);
  assert.notEqual(one, other);
  assert.ok(!one.includes("secret"));
  assert.ok(await isHashOf(one, "secret"));
  for (const wrong of ["", "Secret", "secret ", "secre"]) assert.ok(!(await isHashOf(one, wrong)), wrong);
});

test("a hash is of the cost that it says: another cost is another hash", async () => {
  const cheap = (await hashSecret("s")).replace(/m=\d+/, "m=64");
  assert.equal(await isHashOf(cheap, "s"), false);
});

test("a damaged hash matches nothing and throws nothing", async () => {
  const good = await hashSecret("s");
  const damaged = [
    "",
    "plain",
    good.slice(0, -20),
    `${good}AAAA`,
    good.replace("argon2id", "argon2i"),
    good.replace(/m=\d+/, "m=1"),
    good.replace(/t=\d+/, "t=0"),
    good.replace(/p=\d+/, "p=0"),
    good.replace(/p=\d+/, "p=99"),
    good.replace(/\$[^$]*$/, "$AAAAAAAAAAAAAAAAA"),
    DUMMY_HASH,
  ];
  for (const kept of damaged) assert.equal(await isHashOf(kept, "s"), false, kept);
});

test("scopes are checked, and repetitions dropped", () => {
  assert.deepEqual(checkScopes(["runs", "agents:write", "runs", "*"]), ["runs", "agents:write", "*"]);
  const long = `a${"b".repeat(TOKEN_LIMITS.scopeChars)}`;
  for (const scope of ["", " ", "Runs", "a b", "a:", ":a", "a::b", "1a", "**", "*:read", "ação", "a\n", "-a", long])
    assert.throws(() => checkScopes([scope]), { code: "BAD_REQUEST" }, JSON.stringify(scope));
  assert.deepEqual(checkScopes([long.slice(1, TOKEN_LIMITS.scopeChars + 1)]).length, 1);
  assert.throws(() => checkScopes([]), { code: "BAD_REQUEST" });
  const many = Array.from({ length: TOKEN_LIMITS.scopes + 1 }, (_, index) => `s${index}`);
  assert.throws(() => checkScopes(many), { code: "BAD_REQUEST" });
  assert.equal(checkScopes(many.slice(1)).length, TOKEN_LIMITS.scopes);
});

test("a scope grants itself and nothing that begins like it; the star grants all", () => {
  assert.ok(grants(new Set(["runs"]), "runs"));
  for (const other of ["run", "runs:write", "", "*"]) assert.ok(!grants(new Set(["runs"]), other), other);
  assert.ok(grants(new Set(["*"]), "anything"));
  assert.ok(isAdmin(new Set(["*"])) && isAdmin(new Set(["admin"])));
  assert.ok(!isAdmin(new Set(ROLES.user)));
  assert.ok(!grants(new Set(ROLES.user), "oscmd"), "a user's token runs no programs on TCP hands");
});

test("a verified token is known for its version and its time, and no longer", () => {
  let now = 1000;
  const cache = new TokenCache(() => now);
  const name = cache.nameOf("token");
  assert.ok(!cache.has(name, 1));
  cache.add(name, 1);
  assert.ok(cache.has(name, 1));
  assert.ok(!cache.has(name, 2), "the row has changed since");
  assert.ok(!cache.has(name, 1), "and what was known of the older row is dropped");
  cache.add(name, 2);
  now += TOKEN_LIMITS.cacheMs - 1;
  assert.ok(cache.has(name, 2));
  now += 1;
  assert.ok(!cache.has(name, 2));
});

test("the cache keeps no token, is bounded, and drops the one that was verified longest ago", () => {
  const cache = new TokenCache(() => 0);
  assert.ok(!cache.nameOf("token").includes("token"));
  assert.notEqual(cache.nameOf("token"), new TokenCache(() => 0).nameOf("token"), "each process has its own key");
  const names = Array.from({ length: TOKEN_LIMITS.cached }, (_, index) => `n${index}`);
  for (const name of names) cache.add(name, 1);
  cache.add("n0", 1);
  cache.add("new", 1);
  cache.add("newer", 1);
  assert.deepEqual(
    ["n0", "n1", "n2", "n3", "new", "newer"].map((name) => cache.has(name, 1)),
    [true, false, false, true, true, true],
  );
});
