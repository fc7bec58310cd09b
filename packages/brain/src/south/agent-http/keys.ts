import { randomBytes } from "node:crypto";
import { Fault, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { JsonObject, Records, StoredRecord } from "@vidro/core";
import { deriveKeys, deriveNextRoot } from "@vidro/core/wire/agent-http";
import type { DirectionKeys } from "@vidro/core/wire/agent-http";
import { SecretBox } from "../secret-box.ts";
import type { Secret } from "../secret-box.ts";
import { signatureCrypto } from "./signature-crypto.ts";

/** Dependencies of HandKeys. */
interface HandKeysDependencies {
  readonly records: Records;
  /** The key that roots are encrypted with at rest; rejects when it cannot be read. */
  readonly secret: Secret;
  readonly now: () => number;
}

/** The first key of a hand, as its host keeps it. */
interface EnrolledKey {
  /** `<hand>/<key>`. */
  readonly keyid: string;
  readonly root: Uint8Array;
}

/** The values from which a hand derives its next key. */
interface NextKey {
  readonly keyid: string;
  /** The key whose root it is derived from. */
  readonly from: string;
  /** In base64. */
  readonly salt: string;
}

/**
 * next: given to the hand and not used yet. active: in use. retiring: the previous one, for messages on their way.
 * revoked: refused.
 */
type KeyState = "next" | "active" | "retiring" | "revoked";

interface KeptKey {
  readonly id: string;
  readonly state: KeyState;
  /** Encrypted. */
  readonly root: string;
  /** Of a key that is next. */
  readonly salt?: string;
  /** When a retiring key ends. */
  readonly endsAt?: number;
}

/** The keys of a hand, as they are written. */
interface KeysOfHand {
  readonly hand: string;
  readonly owner: string;
  readonly keys: readonly KeptKey[];
  /** The version of the record to replace; without one any is replaced. */
  readonly version?: number;
}

const KIND = "hand-key";
const DECOY = "none/none";
const ID_BYTES = 9;

/**
 * The keys that hands sign with, by hand, encrypted at rest. At most two of a hand are valid at a time: the one in use,
 * and either the next one until it is used for the first time, or the one before for a day after that.
 */
export class HandKeys {
  readonly #deps: HandKeysDependencies;
  readonly #safe: SecretBox;
  #decoy: string | undefined;

  constructor(deps: HandKeysDependencies) {
    this.#deps = deps;
    this.#safe = new SecretBox(deps.secret);
  }

  /** Makes the first key of a hand; earlier keys of the hand are void. */
  async enrol(hand: string, owner: string): Promise<EnrolledKey> {
    const id = newId();
    const root = randomBytes(SIGNED_HTTP_LIMITS.keyBytes);
    const keyid = `${hand}/${id}`;
    const key: KeptKey = { id, state: "active", root: await this.#safe.encrypt(keyid, root) };
    await this.#put({ hand, owner, keys: [key] });
    return { keyid, root };
  }

  /** The keys of that name while they are valid; rejects when they cannot be read. */
  async keys(keyid: string): Promise<DirectionKeys | undefined> {
    const key = (await this.#keysOf(handOfKey(keyid))).find(({ id }) => keyid.endsWith(`/${id}`));
    const isGood = key !== undefined && this.#isValid(key);
    const [name, encrypted] = isGood ? [keyid, key.root] : [DECOY, await this.#decoyRoot()];
    const keys = deriveKeys(await this.#safe.decrypt(name, encrypted), name, signatureCrypto);
    return isGood ? keys : undefined;
  }

  /** The owner of a hand; NOT_FOUND when it has no keys. */
  async owner(hand: string): Promise<string> {
    return (await this.#must(hand)).owner;
  }

  /** The id of the key that messages to a hand are signed with. */
  async active(hand: string): Promise<string> {
    return `${hand}/${activeIn(keysIn(await this.#must(hand))).id}`;
  }

  /** Makes the next key of a hand; the one before the present one ends now. NOT_FOUND when the hand has none. */
  async rotate(hand: string): Promise<NextKey> {
    const record = await this.#must(hand);
    const active = activeIn(keysIn(record));
    const id = newId();
    const keyid = `${hand}/${id}`;
    const salt = randomBytes(SIGNED_HTTP_LIMITS.keyBytes);
    const from = `${hand}/${active.id}`;
    const before = await this.#safe.decrypt(from, active.root);
    const root = await this.#safe.encrypt(keyid, deriveNextRoot(before, salt, { keyid, crypto: signatureCrypto }));
    const next: KeptKey = { id, state: "next", root, salt: salt.toString("base64") };
    await this.#put({ hand, owner: record.owner, keys: [active, next], version: record.version });
    return { keyid, from, salt: salt.toString("base64") };
  }

  /** The next key of a hand, while it has not used it. */
  async next(hand: string): Promise<NextKey | undefined> {
    const known = await this.#keysOf(hand);
    const next = known.find(({ state }) => state === "next");
    if (next?.salt === undefined) return undefined;
    return { keyid: `${hand}/${next.id}`, from: `${hand}/${activeIn(known).id}`, salt: next.salt };
  }

  /** Notes that a hand signed with a key: the next key becomes the active one, and the active one retires. */
  async noteUse(keyid: string): Promise<void> {
    const hand = handOfKey(keyid);
    const record = await this.#must(hand);
    const known = keysIn(record);
    const next = known.find(({ id, state }) => state === "next" && keyid.endsWith(`/${id}`));
    if (next === undefined) return;
    const endsAt = this.#deps.now() + SIGNED_HTTP_LIMITS.overlapMs;
    const retiring: KeptKey = { ...activeIn(known), state: "retiring", endsAt };
    const { salt: _, ...used } = next;
    const keys: readonly KeptKey[] = [retiring, { ...used, state: "active" }];
    await this.#put({ hand, owner: record.owner, keys, version: record.version }).catch(ignoreConflict);
  }

  /** Ends all keys of a hand. */
  async revoke(hand: string): Promise<void> {
    const record = await this.#must(hand);
    const revoked = keysIn(record).map(({ id, root }): KeptKey => ({ id, root, state: "revoked" }));
    await this.#put({ hand, owner: record.owner, keys: revoked });
  }

  /** A random root for unknown key ids, so that their check takes as long as that of known ones. */
  async #decoyRoot(): Promise<string> {
    this.#decoy ??= await this.#safe.encrypt(DECOY, randomBytes(SIGNED_HTTP_LIMITS.keyBytes));
    return this.#decoy;
  }

  #isValid({ state, endsAt = 0 }: KeptKey): boolean {
    return state === "active" || state === "next" || (state === "retiring" && this.#deps.now() < endsAt);
  }

  async #keysOf(hand: string): Promise<readonly KeptKey[]> {
    const record = await this.#deps.records.get(KIND, hand);
    return record === undefined ? [] : keysIn(record);
  }

  async #must(hand: string): Promise<StoredRecord> {
    const record = await this.#deps.records.get(KIND, hand);
    if (record !== undefined) return record;
    throw new Fault("NOT_FOUND", `The hand ${hand} does not sign its messages: it has no key here.`);
  }

  async #put({ hand, owner, keys, version }: KeysOfHand): Promise<void> {
    const body = { keys } as unknown as JsonObject;
    await this.#deps.records.put({ kind: KIND, id: hand, owner, body }, version);
  }
}

/** The hand that a key belongs to. */
export function handOfKey(keyid: string): string {
  return keyid.slice(0, keyid.lastIndexOf("/"));
}

function keysIn({ body }: StoredRecord): readonly KeptKey[] {
  return body["keys"] as unknown as readonly KeptKey[];
}

function activeIn(keys: readonly KeptKey[]): KeptKey {
  const active = keys.find(({ state }) => state === "active");
  if (active === undefined) throw new Fault("HAND_REVOKED", "The keys of this hand were revoked.");
  return active;
}

function newId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** Ignores a conflict: another message with the same key has written the same record. */
function ignoreConflict(thrown: unknown): void {
  if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
}
