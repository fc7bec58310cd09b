import { Fault, HOUR_MS, MINUTE_MS } from "@vidro/core";

const UNITS_MS = { m: MINUTE_MS, h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS } as const;
const SPAN = /^(\d{1,6})([mhdw])$/;
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** Parses an expiry, as a span from now (30d) or as a time (2030-01-31T12:00Z), into milliseconds since the epoch. */
export function parseExpiry(given: string, now: number): number {
  const [, amount, unit] = SPAN.exec(given) ?? [];
  if (unit === "m" || unit === "h" || unit === "d" || unit === "w") return now + Number(amount) * UNITS_MS[unit];
  const moment = MOMENT.test(given) && isDay(given) ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(moment))
    throw new Fault("BAD_REQUEST", `${given} is no time: say 30d, 12h, 45m, 2w, or 2030-01-31T12:00:00Z.`);
  return moment;
}

/** Whether there is such a day: `Date.parse` takes February 30 for a day of March. */
function isDay(given: string): boolean {
  const [day = ""] = given.split("T");
  const start = Date.parse(day);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
}
