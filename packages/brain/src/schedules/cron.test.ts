import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault, HOUR_MS, MINUTE_MS } from "@vidro/core";
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

/** Does some work with the clocks of a zone. */
function inZone<Value>(zone: string, work: () => Value): Value {
  const before = process.env["TZ"];
  process.env["TZ"] = zone;
  try {
    return work();
  } finally {
    if (before === undefined) delete process.env["TZ"];
    else process.env["TZ"] = before;
  }
}

/** The times of an expression between two moments, as UTC without the year and the seconds. */
function timesBetween(cron: string, from: string, to: string): readonly string[] {
  const times = parseCron(cron);
  const found: string[] = [];
  for (let time = times.next(Date.parse(from)); time !== undefined && time <= Date.parse(to); time = times.next(time))
    found.push(new Date(time).toISOString().slice("2026-".length, "2026-11-01T05:30".length));
  return found;
}

test("an hour that the clocks repeat counts twice for every hour, and once for an hour that is named", () => {
  inZone("America/New_York", () => {
    // At 06:00 UTC it is 01:00 for the second time.
    const [from, to] = ["2026-11-01T04:30:00Z", "2026-11-01T07:30:00Z"];
    assert.deepEqual(timesBetween("0 * * * *", from, to), ["11-01T05:00", "11-01T06:00", "11-01T07:00"]);
    assert.deepEqual(timesBetween("@hourly", from, to), ["11-01T05:00", "11-01T06:00", "11-01T07:00"]);
    assert.equal(timesBetween("* * * * *", from, to).length, 180);
    assert.deepEqual(timesBetween("15 1 * * *", from, to), ["11-01T05:15"]);
    assert.deepEqual(timesBetween("15 1,2 * * *", from, to), ["11-01T05:15", "11-01T07:15"]);
  });
  inZone("Australia/Lord_Howe", () => {
    // The clocks go back by half an hour, from 02:00 to 01:30.
    const [from, to] = ["2026-04-04T14:20:00Z", "2026-04-04T16:10:00Z"];
    assert.deepEqual(timesBetween("45 * * * *", from, to), ["04-04T14:45", "04-04T15:15"]);
    assert.deepEqual(timesBetween("15 * * * *", from, to), ["04-04T15:45"]);
  });
});

test("a time that the clocks skip is moved behind the gap, once, and a schedule of every hour goes on", () => {
  inZone("America/New_York", () => {
    // At 07:00 UTC the clocks go from 02:00 to 03:00.
    const [from, to] = ["2026-03-08T05:30:00Z", "2026-03-08T09:30:00Z"];
    assert.deepEqual(timesBetween("30 2 * * *", from, to), ["03-08T07:30"]);
    assert.deepEqual(timesBetween("30 2,3 * * *", from, to), ["03-08T07:30"]);
    assert.deepEqual(timesBetween("0 * * * *", from, to), ["03-08T06:00", "03-08T07:00", "03-08T08:00", "03-08T09:00"]);
    assert.equal(timesBetween("* * * * *", from, to).length, 240);
  });
  inZone("America/Santiago", () => {
    // A day without midnight: the clocks go from 00:00 to 01:00.
    const days = timesBetween("@daily", "2026-09-05T12:00:00Z", "2026-09-08T12:00:00Z");
    assert.deepEqual(days, ["09-06T04:00", "09-07T03:00", "09-08T03:00"]);
  });
});

/** The first whole minute after a moment whose local fields fit; goes minute by minute. */
function walkedNext(fits: (date: Date) => boolean, after: number): number {
  for (let time = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS; ; time += MINUTE_MS)
    if (fits(new Date(time))) return time;
}

test("in every zone, the next time of every hour is the first minute that the clocks show it", () => {
  const zones = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "America/Santiago", "Pacific/Chatham"];
  const start = Date.UTC(2026, 0, 1);
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.uniqueArray(fc.integer({ min: 0, max: 59 }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom("*", "6,0", "1-5"),
      fc.integer({ min: 0, max: 2 * 365 * 24 * 60 * 60 }),
      (zone, minutes, weekdays, seconds) =>
        inZone(zone, () => {
          const after = start + seconds * 1000;
          const allowed = { "*": [0, 1, 2, 3, 4, 5, 6], "6,0": [0, 6], "1-5": [1, 2, 3, 4, 5] }[weekdays] ?? [];
          const fits = (date: Date): boolean => minutes.includes(date.getMinutes()) && allowed.includes(date.getDay());
          assert.equal(parseCron(`${minutes.join()} * * * ${weekdays}`).next(after), walkedNext(fits, after));
        }),
    ),
    { numRuns: 300 },
  );
});

test("around each change of the clocks, no schedule of every hour is silent for longer than its minutes say", () => {
  const changes = { "America/New_York": ["2026-03-08", "2026-11-01"], "Europe/Berlin": ["2026-03-29", "2026-10-25"] };
  for (const [zone, days] of Object.entries(changes))
    inZone(zone, () => {
      for (const day of days) {
        const times = parseCron("*/20 * * * *");
        for (let after = Date.parse(day); after < Date.parse(day) + 30 * HOUR_MS; after += 7 * MINUTE_MS)
          assert.ok(
            (times.next(after) ?? Infinity) - after <= 20 * MINUTE_MS,
            `${zone} ${new Date(after).toISOString()}`,
          );
      }
    });
});

test("an expression that is named or spelt in another way has the same times", () => {
  const after = at("2026-11-18T10:00:30");
  const alike: readonly (readonly [string, string])[] = [
    ["@weekly", "0 0 * * sun"],
    ["@monthly", "0 0 1 * *"],
    ["@yearly", "0 0 1 JAN *"],
    ["  0\t7  * *   MON-FRI ", "0 7 * * 1-5"],
    ["*/1 * * * *", "* * * * *"],
    ["0-59 0-23 1-31 1-12 0-7", "* * * * *"],
    ["0 0 * * 7", "0 0 * * 0"],
    ["0 0 * * 5-7", "0 0 * * 0,5,6"],
    ["10-40/15 * * * *", "10,25,40 * * * *"],
    ["50/5 * * * *", "50,55 * * * *"],
    ["0 0 1,1,1 * *", "0 0 1 * *"],
  ];
  for (const [one, other] of alike) {
    const [times, others] = [parseCron(one), parseCron(other)];
    for (let [time, steps] = [after, 0]; steps < 12; steps += 1) {
      assert.equal(times.next(time), others.next(time), `${one} = ${other}`);
      time = times.next(time) ?? assert.fail();
    }
  }
});

test("the leap day is found within four years, and not over a century year without one", () => {
  assert.equal(parseCron("0 0 29 2 *").next(at("2026-03-01T00:00")), at("2028-02-29T00:00"));
  assert.equal(parseCron("0 0 29 2 *").next(at("2028-02-29T00:00")), at("2032-02-29T00:00"));
  assert.equal(parseCron("0 0 29 2 *").next(at("2096-03-01T00:00")), undefined);
  // With a weekday, each of them fits as well.
  assert.equal(parseCron("0 0 30 2 1").next(at("2026-02-01T12:00")), at("2026-02-02T00:00"));
});
