import assert from "node:assert/strict";
import test from "node:test";
import { TokenBucket } from "./token-bucket.ts";

test("a burst is allowed at once, and then the steady rate", () => {
  let now = 0;
  const bucket = new TokenBucket(2, 10, () => now);
  assert.deepEqual([bucket.take(), bucket.take()], [0, 0]);
  assert.equal(bucket.take(), 100, "the next token comes after a tenth of a second");
  now = 50;
  assert.equal(bucket.take(), 50);
  now = 100;
  assert.equal(bucket.take(), 0);
});

test("a bucket never holds more than its burst, however long it rests or whatever is given back", () => {
  let now = 0;
  const bucket = new TokenBucket(2, 10, () => now);
  bucket.giveBack();
  now = 1_000_000;
  assert.deepEqual([bucket.take(), bucket.take()], [0, 0]);
  assert.ok(bucket.take() > 0);
  bucket.giveBack();
  assert.equal(bucket.take(), 0, "a token that was given back can be taken again");
});
