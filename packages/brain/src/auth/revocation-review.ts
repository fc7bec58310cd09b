import { FIRST_GENERATION } from "@vidro/core/run";
import type { Records, StoredRecord } from "@vidro/core";
import { LOCAL_OWNER } from "./caller.ts";

/*
 * A store that came back from a backup knows hands and tokens as they were then. Which of them were revoked later, and
 * are not in the file beside the store, cannot be known here: a person looks through them, and says so.
 */

/** What may have been revoked after the backup, and counts again. */
export interface UnreviewedItems {
  /** Names of hands on other machines. */
  readonly hands: readonly string[];
  /** How many tokens. */
  readonly tokens: number;
}

/** Reads the records of a kind, wherever they are. */
type ReadKind = (kind: string) => Promise<readonly Pick<StoredRecord, "id" | "body">[]>;

const KIND = "restore-review";
const ID = "generation";
/** Hands that come for one session are not enrolled. */
const VISITING = "executor-ws";

/** What is to be looked through in a store of that generation; nothing when it never came back, or a person has looked. */
export async function findUnreviewed(generation: number, read: ReadKind): Promise<UnreviewedItems | undefined> {
  const [last] = await read(KIND);
  const seen = last?.body["generation"] ?? FIRST_GENERATION;
  if (typeof seen === "number" && generation <= seen) return undefined;
  const barred = new Map((await read("hand-bar")).map(({ id, body }) => [id, body["barred"]]));
  const hands = (await read("hand")).flatMap(({ id, body: { name, gateway } }) =>
    gateway === VISITING || barred.get(id) === "revoked" ? [] : [typeof name === "string" ? name : id],
  );
  const tokens = (await read("token")).filter(({ body }) => body["revoked"] !== true).length;
  return { hands: hands.sort(), tokens };
}

/** A person has looked through what a store of that generation lets in; durable when it resolves. */
export async function markReviewed(records: Records, generation: number): Promise<void> {
  await records.put({ kind: KIND, id: ID, owner: LOCAL_OWNER, body: { generation } });
}
