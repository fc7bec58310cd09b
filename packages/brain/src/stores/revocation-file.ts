import { open, readFile } from "node:fs/promises";
import { asFault, isObject } from "@vidro/core";
import type { JsonObject, Records, StoredRecord } from "@vidro/core";

/*
 * Revocations and used invitations are also written to a file beside the store: a store restored from a backup lacks
 * those made after the backup, and would accept revoked hands and tokens again.
 */

type RevokedRecord = Pick<StoredRecord, "kind" | "id" | "owner" | "body">;

/** Logs one of the two events of this file. */
type RevocationLog = (
  event: "revocation.reapplied" | "revocation.not_mirrored",
  fields: { readonly [name: string]: string },
) => void;

/** For each kind of record, the part of its body that revokes it for good. */
const ENDINGS: { readonly [kind: string]: (body: JsonObject) => JsonObject | undefined } = {
  "hand-bar": ({ barred, why }) =>
    barred === "revoked" ? { barred, ...(why === undefined ? {} : { why }) } : undefined,
  token: ({ revoked }) => (revoked === true ? { revoked } : undefined),
  invitation: ({ used }) => (used === true ? { used } : undefined),
};

/** The same records, with revocations also written to the file; those in the file that the records lack are applied. */
export async function mirrorRevocations(records: Records, file: string, log: RevocationLog): Promise<Records> {
  await revokeAgain(records, await read(file), log);
  return {
    get: (kind, id) => records.get(kind, id),
    delete: (kind, id) => records.delete(kind, id),
    list: (kind, filter) => records.list(kind, filter),
    watch: (kind, wake) => records.watch(kind, wake),
    async put(record, version) {
      const stored = await records.put(record, version);
      const { kind, id, owner, body } = record;
      const ending = ENDINGS[kind]?.(body);
      if (ending !== undefined) {
        await append(file, { kind, id, owner, body: ending }).catch((thrown: unknown) =>
          log("revocation.not_mirrored", { kind, reason: asFault(thrown).message }),
        );
      }
      return stored;
    },
  };
}

async function revokeAgain(records: Records, revoked: readonly RevokedRecord[], log: RevocationLog): Promise<void> {
  for (const { kind, id, owner, body } of revoked) {
    const record = await records.get(kind, id);
    // A token or an invitation that the store does not know is refused anyway.
    if (record === undefined ? kind !== "hand-bar" : ENDINGS[kind]?.(record.body) !== undefined) continue;
    await records.put({ kind, id, owner, body: { ...record?.body, ...body } }, record?.version);
    log("revocation.reapplied", { kind, id });
  }
}

async function append(file: string, line: RevokedRecord): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    // It begins a line of its own, since a crash or a full disk may have cut the last one off.
    await handle.appendFile(`\n${JSON.stringify(line)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The lines that can be parsed: a crash may have cut the last one off. */
async function read(file: string): Promise<readonly RevokedRecord[]> {
  const text = await readFile(file, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code !== "ENOENT") throw thrown;
    return "";
  });
  return text.split("\n").flatMap((line) => {
    const kept = parseLine(line);
    return kept === undefined ? [] : [kept];
  });
}

function parseLine(line: string): RevokedRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isObject(value)) return undefined;
    const { kind, id, owner, body } = value;
    if (typeof kind !== "string" || typeof id !== "string" || typeof owner !== "string" || !isObject(body))
      return undefined;
    return ENDINGS[kind]?.(body) === undefined ? undefined : { kind, id, owner, body };
  } catch {
    return undefined;
  }
}
