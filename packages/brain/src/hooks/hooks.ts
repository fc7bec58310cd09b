import { randomUUIDv7 } from "node:crypto";
import { Fault, HOOK_LIMITS, isObject } from "@vidro/core";
import type { Json, JsonObject, Records, StoredRecord } from "@vidro/core";
import { newWebhookSecret } from "../webhooks/signature.ts";

/** The fields of a hook that its owner gives. */
export interface HookInput {
  /** What is to be done at each call; the body of the call follows as data. */
  readonly task: string;
  readonly agent?: string;
  /** Selector of hands. */
  readonly hand?: string;
  readonly workspace?: string;
  readonly model?: string;
}

/** A task that another program starts. */
export interface Hook extends HookInput {
  readonly id: string;
  readonly owner: string;
  /** The token by whose rights its runs are started. */
  readonly token: string;
  /** Proves that a call may be made; shown once. */
  readonly secret: string;
  readonly createdAt: number;
  readonly lastRun?: string;
  readonly lastAt?: number;
}

const KIND = "hook";

/** The hooks of a brain; each owner sees its own. */
export class Hooks {
  readonly #records: Records;
  readonly #now: () => number;
  /** Times of the last calls of each hook, for its rate. */
  readonly #calls = new Map<string, readonly number[]>();

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Stores a hook with a new secret. */
  async add(input: HookInput, { owner, token }: Pick<Hook, "owner" | "token">): Promise<Hook> {
    if ((await this.list({ owner, limit: HOOK_LIMITS.perOwner })).length === HOOK_LIMITS.perOwner)
      throw new Fault("CONFLICT", `An owner has at most ${HOOK_LIMITS.perOwner} hooks; remove one first.`);
    const made = { id: `hook_${randomUUIDv7()}`, secret: newWebhookSecret(), createdAt: this.#now() };
    const hook: Hook = { ...input, ...made, owner, token };
    await this.#put(hook);
    return hook;
  }

  /** Hooks, oldest first; fewer than the limit only when there are no more. */
  async list({
    after,
    ...filter
  }: {
    readonly owner?: string;
    readonly after?: string;
    readonly limit: number;
  }): Promise<readonly Hook[]> {
    const found: Hook[] = [];
    for (let behind = after; found.length < filter.limit;) {
      const place = behind === undefined ? {} : { after: behind };
      const records = await this.#records.list(KIND, { ...filter, ...place, order: "oldest" });
      found.push(...records.flatMap(hookOf));
      behind = records.at(-1)?.id;
      if (records.length < filter.limit) break;
    }
    return found.slice(0, filter.limit);
  }

  /** The hook of that id; undefined when there is none, or it is another owner's. */
  async find(id: string, owner?: string): Promise<Hook | undefined> {
    const record = await this.#records.get(KIND, id);
    const [found] = record === undefined ? [] : hookOf(record);
    return owner === undefined || found?.owner === owner ? found : undefined;
  }

  /** Removes a hook; its secret is worth nothing from then on. */
  async remove(id: string): Promise<void> {
    this.#calls.delete(id);
    await this.#records.delete(KIND, id);
  }

  /** Counts a call of a hook; RATE_LIMITED when there were too many in the last minute. */
  admit({ id }: Hook): void {
    const now = this.#now();
    const recent = (this.#calls.get(id) ?? []).filter((at) => now - at < HOOK_LIMITS.rateMs);
    if (recent.length >= HOOK_LIMITS.callsPerRate)
      throw new Fault("RATE_LIMITED", `A hook starts at most ${HOOK_LIMITS.callsPerRate} runs in a minute.`, {
        retryAfterMs: HOOK_LIMITS.rateMs - (now - (recent[0] ?? now)),
      });
    this.#calls.set(id, [...recent, now]);
  }

  /** Records the last run of a hook, unless it was removed or changed meanwhile. */
  async settle(id: string, lastRun: string): Promise<void> {
    const record = await this.#records.get(KIND, id);
    const [found] = record === undefined ? [] : hookOf(record);
    if (record === undefined || found === undefined) return;
    await this.#put({ ...found, lastRun, lastAt: this.#now() }, record.version).catch((thrown: unknown) => {
      if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
    });
  }

  async #put({ id, owner, ...body }: Hook, version?: number): Promise<void> {
    await this.#records.put({ kind: KIND, id, owner, body: body as Json as JsonObject }, version);
  }
}

/** A hook of a record; none of a record that a newer version wrote in another form. */
function hookOf({ id, owner, body }: StoredRecord): Hook[] {
  const isWhole = isObject(body) && typeof body["task"] === "string" && typeof body["secret"] === "string";
  return isWhole ? [{ ...(body as Json as unknown as Omit<Hook, "id" | "owner">), id, owner }] : [];
}
