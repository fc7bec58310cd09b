import type { ScheduleDraft, ScheduleRecord } from "@vidro/client";
import { Fault } from "@vidro/core";
import { oneLine, SHORT_ID_CHARS } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { print, say, writeJson } from "../program/output.ts";
import { paint } from "../view/symbols.ts";

const TASK_CHARS = 60;
const CRON_CHARS = 16;
const TIME_CHARS = 19;

type Flags = BrainFlags & { readonly json?: boolean };

/** Flags of `vidro schedules add`. */
interface AddFlags extends Flags, Omit<ScheduleDraft, "cron" | "task" | "hand"> {
  readonly on?: string;
}

/** Adds a schedule and prints its id and when it is due first. */
export async function addSchedule(cron: string, task: string, flags: AddFlags): Promise<number> {
  const { on, agent, workspace, model, missed } = flags;
  const draft = {
    cron,
    task,
    ...(on === undefined ? {} : { hand: on }),
    ...(agent === undefined ? {} : { agent }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
    ...(missed === undefined ? {} : { missed }),
  };
  return withBrainApi(flags, async ({ schedules }) => {
    const made = await schedules.add(draft);
    if (flags.json === true) writeJson({ ...made });
    else {
      print(made.id);
      say(`It is due first at ${timeWords(made.nextAt)}. Questions of its runs wait for you: vidro approvals list`);
    }
    return EXIT.ok;
  });
}

/** Lists schedules, oldest first. */
export async function listSchedules(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ schedules }) => {
    const found = await schedules.list();
    if (flags.json === true) for (const schedule of found) writeJson({ ...schedule });
    else if (found.length === 0) say('There is no schedule. Add one: vidro schedules add "0 7 * * 1" "<task>"');
    else {
      const heading = ["ID".padEnd(SHORT_ID_CHARS), "TIMES".padEnd(CRON_CHARS), "NEXT".padEnd(TIME_CHARS), "TASK"];
      print(paint("dim", heading.join("  ")), ...found.flatMap(rowsOf));
    }
    return EXIT.ok;
  });
}

/** Removes a schedule. */
export async function removeSchedule(id: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ schedules }) => {
    const schedule = await findSchedule(schedules, id);
    await schedules.remove(schedule.id);
    if (flags.json === true) writeJson({ id: schedule.id, removed: true });
    else say(`${schedule.id} is removed; its runs stay.`);
    return EXIT.ok;
  });
}

/** The schedule with this id, or with an id that ends so. */
async function findSchedule(schedules: BrainApi["schedules"], given: string): Promise<ScheduleRecord> {
  const [found, ...others] = (await schedules.list()).filter(({ id }) => id.endsWith(given));
  if (found === undefined)
    throw new Fault("NOT_FOUND", `No schedule has an id that ends with ${given}: vidro schedules list`);
  if (others.length > 0) throw new Fault("BAD_REQUEST", `Several schedules end with ${given}; give more of the id.`);
  return found;
}

function rowsOf({ id, cron, nextAt, task, lastFault, hand }: ScheduleRecord): readonly string[] {
  const where = hand === null ? "" : ` on ${oneLine(hand, TASK_CHARS)}`;
  const row = [
    id.slice(-SHORT_ID_CHARS),
    oneLine(cron, CRON_CHARS).padEnd(CRON_CHARS),
    timeWords(nextAt).padEnd(TIME_CHARS),
  ];
  return [
    [...row, `${oneLine(task, TASK_CHARS)}${where}`].join("  "),
    ...(lastFault === null
      ? []
      : [`${" ".repeat(SHORT_ID_CHARS)}  ${paint("red", oneLine(lastFault, TASK_CHARS * 2))}`]),
  ];
}

function timeWords(at: number | null): string {
  return at === null ? "never" : new Date(at).toLocaleString("sv");
}
