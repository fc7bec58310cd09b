import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault, MINUTE_MS } from "@vidro/core";
import { parseCron } from "./cron.ts";

/** A time of this machine's zone. */
function at(text: string): number {
  return new Date(text).getTime();
}

test("the next time of an expression is the first that fits after a moment", () => {
  const table: readonly (readonly [cron: string, after: string, next: string])[] = [
    ["* * * * *", "2026-11-18T10:00:30", "2026-11-18T10:01"],
    ["0 7 * * 1", "2026-11-18T10:00", "2026-11-23T07:00"],
    ["0 7 * * mon", "2026-11-23T06:59:59", "2026-11-23T07:00"],
    ["0 7 * * mon", "2026-11-23T07:00", "2026-11-30T07:00"],
    ["*/15 9-17 * * 1-5", "2026-11-20T17:50", "2026-11-23T09:00"],
    ["5/20 * * * *", "2026-11-18T10:26", "2026-11-18T10:45"],
    ["0 0 29 2 *", "2026-11-18T00:00", "2028-02-29T00:00"],
    ["0 12 13 * 5", "2026-11-18T00:00", "2026-11-20T12:00"],
    ["0 0 1 jan *", "2026-11-18T00:00", "2027-01-01T00:00"],
    ["0 0 * * 7", "2026-11-18T00:00", "2026-11-22T00:00"],
    ["30 23 31 12 *", "2026-12-31T23:30", "2027-12-31T23:30"],
    ["1,2,30-31 * * * *", "2026-11-18T10:02", "2026-11-18T10:30"],
    ["@daily", "2026-11-18T10:00", "2026-11-19T00:00"],
    ["@hourly", "2026-11-18T10:00", "2026-11-18T11:00"],
  ];
  for (const [cron, after, next] of table)
    assert.equal(parseCron(cron).next(at(after)), at(next), `${cron} after ${after}`);
});

test("a day that no year has is never due", () => {
  assert.equal(parseCron("0 0 31 2 *").next(at("2026-11-18T00:00")), undefined);
});

test("what is no expression is refused, and the field is named", () => {
  const table = {
    "": /five fields/,
    "* * * *": /five fields/,
    "60 * * * *": /minute of a schedule/,
    "* 24 * * *": /hour/,
    "* * 0 * *": /day of the month/,
    "* * * 13 *": /month/,
    "* * * * 8": /day of the week/,
    "5-1 * * * *": /minute/,
    "*/0 * * * *": /minute/,
    "1-2-3 * * * *": /minute/,
    "a * * * *": /minute/,
    "1,,2 * * * *": /minute/,
    "-1 * * * *": /minute/,
    "@reboot": /five fields/,
    constructor: /five fields/,
    toString: /five fields/,
    "@DAILY": /five fields/,
    "* * * * * *": /five fields/,
    "*/100 * * * *": /minute/,
    "*/-1 * * * *": /minute/,
    "1/2/3 * * * *": /minute/,
    "/5 * * * *": /minute/,
    "٣ * * * *": /minute/,
    "1.5 * * * *": /minute/,
    "0x1 * * * *": /minute/,
    "* * * * sat-sun": /day of the week/,
    "* * * janfeb *": /month/,
    "* * L * *": /day of the month/,
    "* * * * 1#2": /day of the week/,
    "* * ? * *": /day of the month/,
  };
  for (const [cron, reason] of [...Object.entries(table), ["__proto__", /five fields/] as const])
    assert.throws(
      () => parseCron(cron),
      (thrown) => thrown instanceof Fault && reason.test(thrown.message),
      cron,
    );
});

test("for any minute and hour, times ascend and each fits", () => {
  const minute = fc.integer({ min: 0, max: 59 });
  const hour = fc.integer({ min: 0, max: 23 });
  fc.assert(
    fc.property(minute, hour, fc.integer({ min: 0, max: 3 * 365 * 24 * 60 }), (minutes, hours, offset) => {
      const times = parseCron(`${minutes} ${hours} * * *`);
      const after = at("2026-01-01T00:00") + offset * MINUTE_MS;
      const next = times.next(after) ?? 0;
      assert.ok(next > after && next - after <= 25 * 60 * MINUTE_MS);
      assert.equal(new Date(next).getMinutes(), minutes);
    }),
    { numRuns: 200 },
  );
});
