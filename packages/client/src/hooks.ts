import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { hookRecordOf, hookRecordsOf } from "./records.ts";
import type { HookRecord } from "./records.ts";

/** The fields of a hook to add. */
export interface HookDraft {
  /** What is to be done at each call; the body of the call follows as data. */
  readonly task: string;
  readonly agent?: string;
  /** Selector of hands. */
  readonly hand?: string;
  /** Folder of the brain's machine; takes the scope admin. */
  readonly workspace?: string;
  readonly model?: string;
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** The hooks of a brain: tasks that other programs start. */
export class HookApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Lists hooks without their secrets, oldest first. */
  async list(part: ListPart = {}): Promise<readonly HookRecord[]> {
    return this.#brain.list({ path: "v1/hooks" }, part, hookRecordsOf);
  }

  /** Adds a hook; its secret is given this once. */
  async add(draft: HookDraft, { signal }: SignalOption = {}): Promise<HookRecord> {
    const body = { ...draft };
    return hookRecordOf(await this.#brain.requestJson({ method: "POST", path: "v1/hooks", body, signal }));
  }

  /** Removes a hook; its runs stay. NOT_FOUND when there is no such hook. */
  async remove(id: string, { signal }: SignalOption = {}): Promise<void> {
    await this.#brain.request({ method: "DELETE", path: `v1/hooks/${encodeURIComponent(id)}`, signal });
  }
}
