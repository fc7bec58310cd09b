import { randomUUIDv7 } from "node:crypto";
import { Fault, isObject, SCHEDULE_LIMITS } from "@vidro/core";
import type { Json, JsonObject, Records, StoredRecord } from "@vidro/core";
import { parseCron } from "./cron.ts";

/** What happens to times that passed while no brain was up: one run for the last of them, or none. */
type MissedTimes = "once" | "skip";

/** The fields of a schedule that its owner gives. */
export interface ScheduleInput {
  /** Five fields of cron. */
  readonly cron: string;
  readonly task: string;
  readonly agent?: string;
  /** Selector of hands. */
  readonly hand?: string;
  readonly workspace?: string;
  readonly model?: string;
  readonly missed?: MissedTimes;
}

/** A task that is run at certain times. */
export interface Schedule extends ScheduleInput {
  readonly id: string;
  readonly owner: string;
  /** The token by whose rights its runs are started. */
  readonly token: string;
  readonly createdAt: number;
  /** The last time that was dealt with: a run was started for it, or it was missed. */
  readonly doneUpTo: number;
  readonly lastRun?: string;
  /** Why no run could be started for the last time. */
  readonly lastFault?: string;
}

/** The kind of its records, which brains watch. */
const SCHEDULE_KIND = "schedule";

/** The schedules of a brain; each owner sees its own. */
export class Schedules {
  readonly #records: Records;
  readonly #now: () => number;

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Stores a schedule; BAD_REQUEST when it never comes due. */
  async add(input: ScheduleInput, { owner, token }: Pick<Schedule, "owner" | "token">): Promise<Schedule> {
    const now = this.#now();
    if (parseCron(input.cron).next(now) === undefined)
      throw new Fault("BAD_REQUEST", `No time fits ${JSON.stringify(input.cron)} in the next years.`);
    if ((await this.list({ owner, limit: SCHEDULE_LIMITS.perOwner })).length === SCHEDULE_LIMITS.perOwner)
      throw new Fault("CONFLICT", `An owner has at most ${SCHEDULE_LIMITS.perOwner} schedules; remove one first.`);
    const id = `schedule_${randomUUIDv7()}`;
    const schedule: Schedule = { ...input, id, owner, token, createdAt: now, doneUpTo: now };
    await this.#put(schedule);
    return schedule;
  }

  /** Schedules, oldest first; fewer than the limit only when there are no more. */
  async list({
    after,
    ...filter
  }: {
    readonly owner?: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly Schedule[]> {
    const found: Schedule[] = [];
    for (let behind = after; found.length < filter.limit;) {
      const place = behind === undefined ? {} : { after: behind };
      const records = await this.#records.list(SCHEDULE_KIND, { ...filter, ...place, order: "oldest" });
      found.push(...records.flatMap(scheduleOf));
      behind = records.at(-1)?.id;
      if (records.length < filter.limit) break;
    }
    return found.slice(0, filter.limit);
  }

  /** The schedule of that id; NOT_FOUND when there is none, or it is another owner's. */
  async find(id: string, owner?: string): Promise<Schedule> {
    const record = await this.#records.get(SCHEDULE_KIND, id);
    const [found] = record === undefined ? [] : scheduleOf(record);
    if (found === undefined || (owner !== undefined && found.owner !== owner))
      throw new Fault("NOT_FOUND", `There is no schedule ${JSON.stringify(id)}.`);
    return found;
  }

  /** Removes a schedule; its runs stay. NOT_FOUND as for `find`. */
  async remove(id: string, owner?: string): Promise<void> {
    await this.find(id, owner);
    await this.#records.delete(SCHEDULE_KIND, id);
  }

  /** Records what became of a time, unless the schedule was removed or another brain recorded a later one. */
  async settle(id: string, done: Pick<Schedule, "doneUpTo" | "lastRun" | "lastFault">): Promise<void> {
    const record = await this.#records.get(SCHEDULE_KIND, id);
    const [found] = record === undefined ? [] : scheduleOf(record);
    if (record === undefined || found === undefined || found.doneUpTo >= done.doneUpTo) return;
    const { lastRun = found.lastRun, lastFault, doneUpTo } = done;
    const { lastFault: _, ...rest } = found;
    const next = {
      ...rest,
      doneUpTo,
      ...(lastRun === undefined ? {} : { lastRun }),
      ...(lastFault === undefined ? {} : { lastFault }),
    };
    await this.#put(next, record.version).catch((thrown: unknown) => {
      if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
    });
  }

  /** Calls `changed` after each change of a schedule, also by another process; returns a function that stops that. */
  watch(changed: () => void): () => void {
    return this.#records.watch(SCHEDULE_KIND, changed);
  }

  async #put({ id, owner, ...body }: Schedule, version?: number): Promise<void> {
    await this.#records.put({ kind: SCHEDULE_KIND, id, owner, body: body as Json as JsonObject }, version);
  }
}

/** A schedule of a record; none of a record that a newer version wrote in another form. */
function scheduleOf({ id, owner, body }: StoredRecord): Schedule[] {
  const isWhole = isObject(body) && isCron(body["cron"]) && typeof body["doneUpTo"] === "number";
  return isWhole ? [{ ...(body as Json as unknown as Omit<Schedule, "id" | "owner">), id, owner }] : [];
}

/** Whether this version can read the times. */
function isCron(said: Json | undefined): boolean {
  if (typeof said !== "string") return false;
  try {
    parseCron(said);
    return true;
  } catch {
    return false;
  }
}
