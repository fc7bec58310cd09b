import assert from "node:assert/strict";
import { test } from "node:test";
import { SingleUseCodes } from "./single-use-codes.ts";

test("a code counts once, until it expires, and a further one ends the oldest", () => {
  let now = 0;
  const codes = new SingleUseCodes<string>({ lifeMs: 10, most: 2, now: () => now });
  const [first, second, third] = ["a", "b", "c"].map((value) => codes.create(value).code);
  assert.equal(codes.find(first ?? ""), undefined);
  assert.equal(codes.find(second ?? ""), "b");
  assert.equal(codes.take(second ?? ""), "b");
  assert.equal(codes.take(second ?? ""), undefined);
  now = 10;
  assert.equal(codes.take(third ?? ""), undefined);
  assert.equal(codes.take(""), undefined);
});
