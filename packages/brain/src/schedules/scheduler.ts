import { asFault, PAGE_LIMITS, SCHEDULE_LIMITS } from "@vidro/core";
import { parseCron } from "./cron.ts";
import type { Schedule, Schedules } from "./schedules.ts";

/** Dependencies of the scheduler. */
interface SchedulerDependencies {
  readonly schedules: Schedules;
  readonly now: () => number;
  /**
   * Starts the run of a schedule and gives its id. The key is that of the schedule and the time: the same key gives the
   * same run, so that a time has one run, however many brains start it and whenever they are killed.
   */
  readonly start: (schedule: Schedule, key: string) => Promise<string>;
  readonly started: (schedule: Schedule, run: string) => void;
  readonly failed: (schedule: Schedule, fault: { readonly code: string; readonly message: string }) => void;
}

/** Starts the runs of schedules when they are due. Several brains may do so at once. */
export class Scheduler {
  readonly #deps: SchedulerDependencies;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopWatching: (() => void) | undefined;
  #isClosed = false;
  /** A schedule was changed while the schedules were looked at. */
  #isStale = false;

  constructor(deps: SchedulerDependencies) {
    this.#deps = deps;
  }

  /** Looks at once, at each due time, after each change, and once a minute, since clocks may be set. */
  start(): void {
    this.#stopWatching = this.#deps.schedules.watch(() => this.#soon(0));
    this.#soon(0);
  }

  /** Stops; a run that is being started is waited for. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopWatching?.();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Starts every run that is due; returns when the next look is. */
  async look(): Promise<number> {
    const { schedules, now } = this.#deps;
    let soonest = now() + SCHEDULE_LIMITS.lookMs;
    for (let after: string | undefined; !this.#isClosed;) {
      const page = await schedules.list({ limit: PAGE_LIMITS.items, ...(after === undefined ? {} : { after }) });
      for (const schedule of page) {
        if (this.#isClosed) return soonest;
        soonest = Math.min(soonest, (await this.#deal(schedule)) ?? soonest);
      }
      after = page.at(-1)?.id;
      if (page.length < PAGE_LIMITS.items) break;
    }
    return soonest;
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      if (this.#looking === undefined) this.#looking = this.#lookAndWait().finally(() => (this.#looking = undefined));
      else this.#isStale = true;
    }, ms).unref();
  }

  async #lookAndWait(): Promise<void> {
    // A store that cannot be read is reported by the health of the brain; the next look tries again.
    this.#isStale = false;
    const next = await this.look().catch(() => this.#deps.now() + SCHEDULE_LIMITS.retryMs);
    this.#soon(this.#isStale ? 0 : Math.max(SCHEDULE_LIMITS.leastMs, next - this.#deps.now()));
  }

  /** Deals with the times of a schedule that have passed; gives its next time. */
  async #deal(schedule: Schedule): Promise<number | undefined> {
    const { schedules, now } = this.#deps;
    const times = parseCron(schedule.cron);
    const due = lastPassed(schedule, now());
    if (due === undefined) return times.next(now());
    const isMissed = schedule.missed === "skip" && now() - due > SCHEDULE_LIMITS.graceMs;
    await schedules.settle(schedule.id, { doneUpTo: due, ...(isMissed ? {} : await this.#start(schedule, due)) });
    return times.next(now());
  }

  async #start(schedule: Schedule, due: number): Promise<Pick<Schedule, "lastRun" | "lastFault">> {
    const { start, started, failed } = this.#deps;
    try {
      const run = await start(schedule, `${schedule.id}:${due}`);
      started(schedule, run);
      return { lastRun: run };
    } catch (thrown) {
      const { code, message } = asFault(thrown);
      failed(schedule, { code, message });
      return { lastFault: `${code}: ${message}` };
    }
  }
}

/** The last time of a schedule that has passed and was not dealt with. */
function lastPassed({ cron, doneUpTo }: Schedule, now: number): number | undefined {
  const times = parseCron(cron);
  let due: number | undefined;
  let time = times.next(doneUpTo);
  for (let steps = 0; time !== undefined && time <= now; steps += 1) {
    due = time;
    // Only the last one counts: a schedule of each minute is not stepped through for the weeks of a holiday.
    time = times.next(steps === SCHEDULE_LIMITS.missedTimes ? Math.max(time, now - SCHEDULE_LIMITS.missedMs) : time);
  }
  return due;
}
