import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExpiry } from "./expiry.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

test("a span counts from now", () => {
  const spans = { "45m": "00:45", "12h": "12:00" };
  for (const [given, time] of Object.entries(spans))
    assert.equal(new Date(parseExpiry(given, NOW)).toISOString(), `2030-01-01T${time}:00.000Z`);
  assert.equal(new Date(parseExpiry("30d", NOW)).toISOString(), "2030-01-31T00:00:00.000Z");
  assert.equal(parseExpiry("2w", NOW), parseExpiry("14d", NOW));
});

test("a time is taken as it is", () => {
  assert.equal(parseExpiry("2031-02-03T04:05:06Z", NOW), Date.parse("2031-02-03T04:05:06Z"));
  assert.equal(parseExpiry("2031-02-03T04:05+02:00", NOW), Date.parse("2031-02-03T02:05:00Z"));
  assert.equal(parseExpiry("2031-02-03", NOW), Date.parse("2031-02-03T00:00:00Z"));
});

test("anything else is refused by name", () => {
  for (const given of ["", "30", "d", "-1d", "1.5h", "tomorrow", "2031-13-01", "2031", "1 2 3", "9999999d"])
    assert.throws(() => parseExpiry(given, NOW), { code: "BAD_REQUEST", message: /is no time/ }, given);
});
