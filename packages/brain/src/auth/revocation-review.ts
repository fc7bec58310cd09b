import { FIRST_GENERATION } from "@vidro/core/run";
import type { Records, StoredRecord } from "@vidro/core";
import { LOCAL_OWNER } from "./caller.ts";

/*
 * A store restored from a backup has hands and tokens as they were then. Those revoked later and missing in the file
 * beside the store cannot be found here: a person reviews them, and marks the review as done.
 */

/** Tokens and hands that may have been revoked after the backup and are accepted again. */
export interface UnreviewedItems {
  /** Names of hands on other machines. */
  readonly hands: readonly string[];
  /** Number of tokens. */
  readonly tokens: number;
}

/** Reads the records of a kind. */
type ReadKind = (kind: string) => Promise<readonly Pick<StoredRecord, "id" | "body">[]>;

const KIND = "restore-review";
const ID = "generation";
/** Gateway of hands that are not enrolled. */
const VISITING = "executor-ws";

/** What is to be reviewed in a store of that generation; undefined when it was never restored, or is reviewed. */
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

/** Records that a person has reviewed the hands and tokens of a generation; durable when it resolves. */
export async function markReviewed(records: Records, generation: number): Promise<void> {
  await records.put({ kind: KIND, id: ID, owner: LOCAL_OWNER, body: { generation } });
}
