import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { scheduleRecordOf, scheduleRecordsOf } from "./records.ts";
import type { ScheduleRecord } from "./records.ts";

/** The fields of a schedule to add. */
export interface ScheduleDraft {
  /** Five fields of cron, such as "0 7 * * 1", in the brain's time zone. */
  readonly cron: string;
  readonly task: string;
  readonly agent?: string;
  /** Selector of hands. */
  readonly hand?: string;
  /** Folder of the brain's machine; takes the scope admin. */
  readonly workspace?: string;
  readonly model?: string;
  /** Whether times that passed while no brain was up get one run (the default) or none. */
  readonly missed?: "once" | "skip";
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** The schedules of a brain: tasks that it runs at certain times. */
export class ScheduleApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Lists schedules, oldest first. */
  async list(part: ListPart = {}): Promise<readonly ScheduleRecord[]> {
    return this.#brain.list({ path: "v1/schedules" }, part, scheduleRecordsOf);
  }

  /** Adds a schedule. */
  async add(draft: ScheduleDraft, { signal }: SignalOption = {}): Promise<ScheduleRecord> {
    const body = { ...draft };
    return scheduleRecordOf(await this.#brain.requestJson({ method: "POST", path: "v1/schedules", body, signal }));
  }

  /** Removes a schedule; its runs stay. NOT_FOUND when there is no such schedule. */
  async remove(id: string, { signal }: SignalOption = {}): Promise<void> {
    await this.#brain.request({ method: "DELETE", path: `v1/schedules/${encodeURIComponent(id)}`, signal });
  }
}
