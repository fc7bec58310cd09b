import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "@vidro/core";
import { redisAddress } from "./address.ts";

/** The words with which an address is refused. */
function refusal(text: string): string {
  try {
    redisAddress(text);
  } catch (thrown) {
    assert.ok(thrown instanceof Fault, `${text} gives ${String(thrown)}`);
    assert.equal(thrown.code, "BAD_REQUEST");
    return thrown.message;
  }
  return assert.fail(`${text} is taken`);
}

void test("the shortest address is one server at the usual port, database 0, without login and TLS", () => {
  assert.deepEqual(redisAddress("redis://cache"), {
    kind: "single",
    nodes: [{ host: "cache", port: 6379 }],
    master: "",
    database: 0,
    tls: undefined,
    prefix: "",
    name: "redis://cache",
  });
});

void test("all parts of an address are read, and its name for people has no login", () => {
  const address = redisAddress("rediss://ana:s%40cret@cache:7000/12?prefix=vidro:");
  assert.deepEqual(address, {
    kind: "single",
    nodes: [{ host: "cache", port: 7000 }],
    master: "",
    database: 12,
    username: "ana",
    password: "s@cret",
    tls: {},
    prefix: "vidro:",
    name: "rediss://cache:7000/12",
  });
});

void test("a password keeps each of its colons, and every password comes back as it was encoded", () => {
  assert.equal(redisAddress("redis://:a:b::c@cache").password, "a:b::c");
  assert.equal(redisAddress("redis://ana:a:b@cache").username, "ana");
  const text = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(text, text, (username, password) => {
      const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
      const address = redisAddress(`redis://${login}@cache:1/0`);
      assert.deepEqual([address.username, address.password], [username, password]);
      assert.equal(address.name, "redis://cache:1/0");
    }),
  );
});

void test("a login without a colon is a user, and an empty one is none", () => {
  assert.equal(redisAddress("redis://ana@cache").username, "ana");
  assert.equal(redisAddress("redis://ana@cache").password, undefined);
  for (const text of ["redis://@cache", "redis://:@cache"]) {
    assert.ok(!("username" in redisAddress(text)), text);
    assert.ok(!("password" in redisAddress(text)), text);
  }
});

void test("a percent sign that begins no code is refused with what to write, and the password is not repeated", () => {
  const words = refusal("redis://ana:hunter%zz2@cache");
  assert.match(words, /write %25 for a %/);
  assert.ok(!words.includes("hunter"), words);
  assert.match(refusal("redis+sentinel://s1/na%me"), /write %25/);
});

void test("sentinels and clusters have several servers, each with the usual port of its kind", () => {
  const sentinel = redisAddress("redis+sentinel://s1,s2:9,[::1]:8/main%2Fone");
  assert.equal(sentinel.kind, "sentinel");
  assert.deepEqual(sentinel.nodes, [
    { host: "s1", port: 26_379 },
    { host: "s2", port: 9 },
    { host: "::1", port: 8 },
  ]);
  assert.deepEqual([sentinel.master, sentinel.database], ["main/one", 0]);
  const cluster = redisAddress("rediss+cluster://a,b");
  assert.deepEqual([cluster.kind, cluster.nodes.length, cluster.master, cluster.tls], ["cluster", 2, "", {}]);
});

void test("what cannot be an address is refused with the reason", () => {
  for (const [text, reason] of [
    ["", /It is not redis/],
    ["http://cache", /It is not redis/],
    ["redis://", /It is not redis/],
    ["redis+other://cache", /It is not redis/],
    ["redis://a,b", /Several servers need/],
    ["redis+sentinel://s1", /does not name the master/],
    ["redis+sentinel://s1/", /does not name the master/],
    ["redis://cache/one", /database is not a number/],
    ["redis://cache/12345", /database is not a number/],
    ["redis://cache/-1", /database is not a number/],
    ["redis://cache?prefx=a", /It has no setting "prefx"/],
    ["redis://cache:port", /no host and port/],
    ["redis://cache:0", /no host and port/],
    ["redis://cache:65536", /no host and port/],
    ["redis://::1:6379", /no host and port/],
    ["redis+cluster://a,,b", /no host and port/],
    ["rediss://cache?sslrootcert=/nowhere/ca.pem", /"\/nowhere\/ca.pem" of sslrootcert cannot be read/],
  ] as const)
    assert.match(refusal(text), reason, text);
  assert.equal(redisAddress("redis://cache:65535").nodes[0]?.port, 65_535);
});

void test("every text is read or refused by name: no other error comes out", () => {
  const part = fc.oneof(
    fc.constantFrom("redis://", "rediss+cluster://", "@", ":", "/", "?", "%", ",", "[", "]"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      try {
        redisAddress(parts.join(""));
      } catch (thrown) {
        assert.ok(thrown instanceof Fault, String(thrown));
      }
    }),
    { numRuns: 500 },
  );
});

void test("the certificate of an authority is read for a server with TLS, and not asked for without", (t) => {
  const place = mkdtempSync(join(tmpdir(), "vidro-redis-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const file = join(place, "ca.pem");
  writeFileSync(file, "PEM");
  assert.deepEqual(redisAddress(`rediss://cache?sslrootcert=${file}`).tls, { ca: Buffer.from("PEM") });
  assert.equal(redisAddress("redis://cache?sslrootcert=/nowhere/ca.pem").tls, undefined);
});
