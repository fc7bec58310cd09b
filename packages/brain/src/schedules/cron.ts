import { Fault, MINUTE_MS, SCHEDULE_LIMITS } from "@vidro/core";

/*
 * Times in the five fields of cron: minute, hour, day of the month, month, day of the week; in the time zone of the
 * brain. Where both days are restricted, either of them fits, as cron has it. An hour that the clocks repeat counts twice
 * for a schedule of every hour, and once for any other.
 */

/** The times that an expression names. */
interface CronTimes {
  /** The first time after `after`; undefined when there is none within four years. */
  next(after: number): number | undefined;
}

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of values, the first one of `least`. */
  readonly names?: readonly string[];
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
const MINUTE: Field = { name: "minute", least: 0, most: 59 };
const HOUR: Field = { name: "hour", least: 0, most: 23 };
const DAY: Field = { name: "day of the month", least: 1, most: 31 };
const MONTH: Field = { name: "month", least: 1, most: 12, names: MONTHS };
/** 7 is Sunday, as 0 is. */
const WEEKDAY: Field = { name: "day of the week", least: 0, most: 7, names: DAYS };
const SUNDAY = 7;
const FIELDS = [MINUTE, HOUR, DAY, MONTH, WEEKDAY];

const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ["@hourly", "0 * * * *"],
  ["@daily", "0 0 * * *"],
  ["@weekly", "0 0 * * 0"],
  ["@monthly", "0 0 1 * *"],
  ["@yearly", "0 0 1 1 *"],
]);

/** Reads an expression; BAD_REQUEST names the field that is wrong. */
export function parseCron(text: string): CronTimes {
  const words = (NICKNAMES.get(text.trim()) ?? text).trim().split(/\s+/);
  if (words.length !== FIELDS.length)
    throw new Fault(
      "BAD_REQUEST",
      `A schedule has five fields (minute, hour, day, month, day of the week), such as "0 7 * * 1", or is one of ${[...NICKNAMES.keys()].join(", ")}.`,
    );
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, place) => valuesOf(field, words[place] ?? ""));
  const [, , dayWord, , weekdayWord] = words;
  const isHourly = hours?.size === HOUR.most + 1;
  const isEither = dayWord !== "*" && weekdayWord !== "*";
  const fitsDay = (date: Date): boolean => {
    const [byDay, byWeekday] = [days?.has(date.getDate()) === true, weekdays?.has(date.getDay()) === true];
    return months?.has(date.getMonth() + 1) === true && (isEither ? byDay || byWeekday : byDay && byWeekday);
  };
  return {
    next(after) {
      const start = new Date(after);
      for (let offset = 0; offset < SCHEDULE_LIMITS.days; offset += 1) {
        const day = new Date(start.getFullYear(), start.getMonth(), start.getDate() + offset);
        if (!fitsDay(day)) continue;
        const once = [...(hours ?? [])].flatMap((hour) =>
          [...(minutes ?? [])].map((minute) => timeOn(day, hour, minute)),
        );
        const times = isHourly && areClocksSet(day) ? once.flatMap(withRepeat) : once;
        // A time that the clocks skip is the same time an hour later, so that times of a day may change places.
        const found = times.filter((time) => time > after).sort((one, other) => one - other)[0];
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

function timeOn(day: Date, hour: number, minute: number): number {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), hour, minute).getTime();
}

/** Whether the clocks are set on a day. */
function areClocksSet(day: Date): boolean {
  const next = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1);
  return day.getTimezoneOffset() !== next.getTimezoneOffset();
}

/** A time, and the later one that the clocks show alike. */
function withRepeat(time: number): readonly number[] {
  const date = new Date(time);
  const setBackMs =
    (new Date(time + SCHEDULE_LIMITS.setBackMs).getTimezoneOffset() - date.getTimezoneOffset()) * MINUTE_MS;
  const later = new Date(time + setBackMs);
  const isAlike = later.getHours() === date.getHours() && later.getMinutes() === date.getMinutes();
  return setBackMs > 0 && isAlike ? [time, later.getTime()] : [time];
}

/** The values that one field names: `*`, numbers, names, ranges, lists, and steps behind a slash. */
function valuesOf(field: Field, word: string): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of word.split(",")) {
    const [, range = "", step = "1"] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const isStepped = part.includes("/");
    const [first, last] = boundsOf(field, range, isStepped);
    const every = Number(step);
    if (first === undefined || last === undefined || first > last || every === 0) throw wrong(field, part);
    for (let value = first; value <= last; value += every)
      values.add(value === SUNDAY && field === WEEKDAY ? 0 : value);
  }
  return values;
}

function boundsOf(field: Field, range: string, isStepped: boolean): readonly (number | undefined)[] {
  if (range === "*") return [field.least, field === WEEKDAY ? field.most - 1 : field.most];
  const [from = "", to, ...more] = range.split("-");
  if (more.length > 0) return [];
  const first = valueOf(field, from);
  if (to !== undefined) return [first, valueOf(field, to)];
  // `5/15` goes on from 5.
  return [first, isStepped ? field.most : first];
}

function valueOf({ least, most, names = [] }: Field, word: string): number | undefined {
  const named = names.indexOf(word.toLowerCase());
  const value = named >= 0 ? named + least : /^\d{1,2}$/.test(word) ? Number(word) : NaN;
  return value >= least && value <= most ? value : undefined;
}

function wrong({ name, least, most }: Field, part: string): Fault {
  return new Fault(
    "BAD_REQUEST",
    `The ${name} of a schedule is *, numbers from ${least} to ${most}, ranges or steps, not ${JSON.stringify(part)}.`,
  );
}
