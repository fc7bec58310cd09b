import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TOKEN_LIMITS } from "@vidro/core";
import { TokenCache } from "./token-cache.ts";

describe("tokens that were verified lately", () => {
  it("are known by the version of the row that they were verified against", () => {
    const cache = new TokenCache(() => 0);
    const name = cache.nameOf("token");
    assert.equal(cache.has(name, 1), false);
    cache.add(name, 1);
    assert.equal(cache.has(name, 1), true);
    assert.equal(cache.has(name, 2), false);
    // A row that has changed means that the token is verified anew, whatever version is asked for next.
    assert.equal(cache.has(name, 1), false);
  });

  it("are known for their time to the millisecond", () => {
    let now = 1000;
    const cache = new TokenCache(() => now);
    const name = cache.nameOf("token");
    cache.add(name, 1);
    now += TOKEN_LIMITS.cacheMs - 1;
    assert.equal(cache.has(name, 1), true);
    now += 1;
    assert.equal(cache.has(name, 1), false);
  });

  it("are kept under a hash that no other process makes", () => {
    const [one, other] = [new TokenCache(() => 0), new TokenCache(() => 0)];
    assert.equal(one.nameOf("token"), one.nameOf("token"));
    assert.notEqual(one.nameOf("token"), one.nameOf("token2"));
    assert.notEqual(one.nameOf("token"), other.nameOf("token"));
    assert.doesNotMatch(one.nameOf("token"), /token/);
  });

  it("are forgotten oldest first when there are too many", () => {
    const cache = new TokenCache(() => 0);
    for (let index = 0; index < TOKEN_LIMITS.cached; index += 1) cache.add(`n${index}`, 1);
    cache.add("n0", 1);
    cache.add("one more", 1);
    assert.equal(cache.has("one more", 1), true);
    const left = Array.from({ length: TOKEN_LIMITS.cached }, (_, index) => cache.has(`n${index}`, 1));
    assert.ok(left.filter((known) => !known).length <= 2);
    assert.equal(left.at(-1), true);
  });
});
