import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
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

test("a day that no calendar has is refused, and not taken for one of the next month", () => {
  for (const given of ["2031-02-29", "2031-02-30", "2031-04-31", "2031-06-31T12:00Z", "2100-02-29", "2031-00-10"])
    assert.throws(() => parseExpiry(given, NOW), { code: "BAD_REQUEST", message: /is no time/ }, given);
  for (const given of ["2032-02-29", "2000-02-29", "2031-12-31T23:59:59.999+14:00"])
    assert.equal(parseExpiry(given, NOW), Date.parse(given), given);
});

test("every day of every year is the time at which it begins", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (date) => {
      const given = date.toISOString();
      assert.equal(parseExpiry(given, NOW), date.getTime());
      assert.equal(parseExpiry(given.slice(0, 10), NOW), Date.parse(`${given.slice(0, 10)}T00:00:00Z`));
    }),
  );
});

test("a span is never before now, and longer spans end later", () => {
  const units = ["m", "h", "d", "w"] as const;
  fc.assert(
    fc.property(fc.nat(999_998), fc.constantFrom(...units), (amount, unit) => {
      const until = parseExpiry(`${amount}${unit}`, NOW);
      assert.ok(until >= NOW && until < parseExpiry(`${amount + 1}${unit}`, NOW));
    }),
  );
  for (const [index, unit] of units.entries())
    for (const longer of units.slice(index + 1))
      assert.ok(parseExpiry(`1${unit}`, NOW) < parseExpiry(`1${longer}`, NOW));
});
