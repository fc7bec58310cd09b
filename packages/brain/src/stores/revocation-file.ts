import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { asFault, isObject, RECORD_LIMITS } from "@vidro/core";
import type { JsonObject, Records, StoredRecord } from "@vidro/core";

/*
 * Revocations and used invitations are also written to a file beside the store: a store restored from a backup lacks
 * those made after the backup, and would accept revoked hands and tokens again. A record has one line, which is dropped
 * when the record would have expired. Beyond `RECORD_LIMITS.revocations` the oldest invitations are dropped, then the
 * oldest tokens, and this is logged; hands are never dropped.
 */

type RevokedRecord = Pick<StoredRecord, "kind" | "id" | "owner" | "body"> & {
  /** The time at which the record expires without being revoked. */
  readonly until?: number;
};

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

/** Where the bodies of records have the time at which they expire. */
const EXPIRIES: { readonly [kind: string]: string } = { token: "expires_at", invitation: "expiresAt" };

/** Kinds whose lines may be dropped when the file is full; the first ones first. */
const DROPPABLE = ["invitation", "token"];

/** The share of lines that stay when a full file is cut, so that not every further line cuts it again. */
const SHARE_KEPT = 0.9;

/** The same records, with revocations also written to the file; those in the file that the records lack are applied. */
export async function mirrorRevocations(records: Records, file: string, log: RevocationLog): Promise<Records> {
  const mirror = await RevocationFile.open(file, log);
  await revokeAgain(records, mirror.revoked, log);
  return {
    get: (kind, id) => records.get(kind, id),
    delete: (kind, id) => records.delete(kind, id),
    list: (kind, filter) => records.list(kind, filter),
    watch: (kind, wake) => records.watch(kind, wake),
    async put(record, version) {
      const stored = await records.put(record, version);
      const { kind, id, owner, body } = record;
      const ending = ENDINGS[kind]?.(body);
      const until = body[EXPIRIES[kind] ?? ""];
      if (ending !== undefined)
        await mirror.add({ kind, id, owner, body: ending, ...(typeof until === "number" ? { until } : {}) });
      return stored;
    },
  };
}

/** The file of revocations, with what this process knows to be in it. */
class RevocationFile {
  readonly #file: string;
  readonly #log: RevocationLog;
  readonly #known: Map<string, RevokedRecord>;

  private constructor(file: string, known: Map<string, RevokedRecord>, log: RevocationLog) {
    this.#file = file;
    this.#known = known;
    this.#log = log;
  }

  /** Reads the file, and writes it anew without lines that are repeated or expired when most of them are. */
  static async open(file: string, log: RevocationLog): Promise<RevocationFile> {
    const lines = await readLines(file);
    const known = new Map(lines.map((line) => [keyOf(line), line]));
    const mirror = new RevocationFile(file, known, log);
    mirror.#dropExpired();
    if (lines.length > RECORD_LIMITS.revocations || lines.length > 2 * known.size + SPARE_LINES)
      await mirror.#shorten().catch((thrown: unknown) => mirror.#logFailure("any", thrown));
    return mirror;
  }

  get revoked(): readonly RevokedRecord[] {
    return [...this.#known.values()];
  }

  /** Adds a line, durable when it resolves; a failure is logged, because the store has the revocation. */
  async add(line: RevokedRecord): Promise<void> {
    if (this.#known.has(keyOf(line))) return;
    try {
      if (this.#known.size >= RECORD_LIMITS.revocations) await this.#shorten();
      await appendLines(this.#file, [line]);
      this.#known.set(keyOf(line), line);
    } catch (thrown) {
      this.#logFailure(line.kind, thrown);
    }
  }

  #logFailure(kind: string, thrown: unknown): void {
    this.#log("revocation.not_mirrored", { kind, reason: asFault(thrown).message });
  }

  /** Writes the file anew with the lines that are to stay; throws when hands alone fill it. */
  async #shorten(): Promise<void> {
    this.#dropExpired();
    if (this.#known.size >= RECORD_LIMITS.revocations) this.#dropOldest();
    await replaceLines(this.#file, this.revoked);
    if (this.#known.size >= RECORD_LIMITS.revocations)
      throw new Error(`the file is full: it keeps ${RECORD_LIMITS.revocations} revocations`);
  }

  #dropExpired(): void {
    for (const [key, { until }] of this.#known)
      if (until !== undefined && until + RECORD_LIMITS.revocationExpiredMs < Date.now()) this.#known.delete(key);
  }

  #dropOldest(): void {
    const most = Math.floor(RECORD_LIMITS.revocations * SHARE_KEPT);
    for (const kind of DROPPABLE) {
      const before = this.#known.size;
      for (const [key, line] of this.#known) {
        if (this.#known.size <= most) break;
        if (line.kind === kind) this.#known.delete(key);
      }
      const dropped = before - this.#known.size;
      if (dropped > 0)
        this.#log("revocation.not_mirrored", { kind, reason: `the file is full; its ${dropped} oldest were dropped` });
    }
  }
}

/** Lines beyond what is needed that a file may have before it is written anew. */
const SPARE_LINES = 1000;

function keyOf({ kind, id }: RevokedRecord): string {
  return JSON.stringify([kind, id]);
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

/** Each line begins a line of its own, since a crash or a full disk may have cut the last one off. */
const textOf = (lines: readonly RevokedRecord[]): string => lines.map((line) => `\n${JSON.stringify(line)}\n`).join("");

async function appendLines(file: string, lines: readonly RevokedRecord[]): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    await handle.appendFile(textOf(lines));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes the file anew; what another process adds to the old one meanwhile is added to the new one. */
async function replaceLines(file: string, lines: readonly RevokedRecord[]): Promise<void> {
  const draft = `${file}.${process.pid}`;
  const old = await open(file, "r");
  try {
    const { size } = await old.stat();
    await rm(draft, { force: true });
    await appendLines(draft, lines);
    await rename(draft, file);
    await appendLines(file, parseLines((await readAll(old)).subarray(size).toString("utf8")));
  } finally {
    await old.close();
    await rm(draft, { force: true });
  }
}

async function readAll(handle: FileHandle): Promise<Buffer> {
  const { size } = await handle.stat();
  return (await handle.read(Buffer.alloc(size), 0, size, 0)).buffer;
}

async function readLines(file: string): Promise<readonly RevokedRecord[]> {
  try {
    const handle = await open(file, "r");
    try {
      return parseLines(await handle.readFile("utf8"));
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (isObject(thrown) && thrown["code"] === "ENOENT") return [];
    throw thrown;
  }
}

/** The lines that can be parsed: a crash may have cut the last one off. */
function parseLines(text: string): readonly RevokedRecord[] {
  return text.split("\n").flatMap((line) => {
    const kept = parseLine(line);
    return kept === undefined ? [] : [kept];
  });
}

function parseLine(line: string): RevokedRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isObject(value)) return undefined;
    const { kind, id, owner, body, until } = value;
    if (typeof kind !== "string" || typeof id !== "string" || typeof owner !== "string" || !isObject(body))
      return undefined;
    if (ENDINGS[kind]?.(body) === undefined) return undefined;
    return { kind, id, owner, body, ...(typeof until === "number" ? { until } : {}) };
  } catch {
    return undefined;
  }
}
