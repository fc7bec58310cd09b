import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Fault, SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Invitee, JsonObject, Records, StoredRecord } from "@vidro/core";
import { parseInvitationProof } from "@vidro/core/wire/enrolment";

/** A new invitation; the secret is not stored. */
interface Invitation {
  readonly id: string;
  readonly secret: string;
  readonly expiresAt: number;
}

const KIND = "invitation";
const ID_BYTES = 16;
const SECRET_BYTES = 32;

/** Invitations to become a hand; each is valid once and for a limited time. */
export class Invitations {
  readonly #records: Records;
  readonly #now: () => number;

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Makes an invitation, durable when it resolves; BAD_REQUEST when its lifetime is too long. */
  async make({ owner, ...who }: Invitee, lifeMs: number = SOUTHBOUND_LIMITS.invitationMs): Promise<Invitation> {
    if (!(lifeMs > 0 && lifeMs <= SOUTHBOUND_LIMITS.invitationMs))
      throw new Fault("BAD_REQUEST", "An invitation is valid for an hour at most.");
    await this.#makeRoom();
    const id = randomBytes(ID_BYTES).toString("hex");
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const expiresAt = this.#now() + lifeMs;
    const body = { ...who, hash: hashOf(secret).toString("hex"), expiresAt } as JsonObject;
    await this.#records.put({ kind: KIND, id, owner, body }, 0);
    return { id, secret, expiresAt };
  }

  /**
   * Uses an invitation up, durably when it resolves; of several concurrent calls one succeeds. INVALID_TOKEN alike
   * when it is unknown, wrong, used or expired.
   */
  async redeem(proof: string): Promise<Invitee> {
    const record = await this.#open(proof);
    const { kind, id, owner, body, version } = record;
    await this.#records.put({ kind, id, owner, body: { ...body, used: true } }, version).catch((thrown: unknown) => {
      throw thrown instanceof Fault && thrown.code === "CONFLICT" ? refusedInvitation() : thrown;
    });
    return invitedIn(record);
  }

  /** The invitee of a valid invitation, which is not used up; rejects like `redeem`. */
  async check(proof: string): Promise<Invitee> {
    return invitedIn(await this.#open(proof));
  }

  async #open(proof: string): Promise<StoredRecord> {
    const shown = parseInvitationProof(proof);
    const record = shown && (await this.#records.get(KIND, shown.id));
    if (shown === undefined || record === undefined) throw refusedInvitation();
    const { hash, expiresAt, used } = bodyOf(record);
    const isRight = timingSafeEqual(hashOf(shown.secret), Buffer.from(hash, "hex"));
    if (!isRight || used === true || this.#now() >= expiresAt) throw refusedInvitation();
    return record;
  }

  /** Deletes expired invitations; RATE_LIMITED when too many are still open. */
  async #makeRoom(): Promise<void> {
    const kept = await this.#records.list(KIND, { limit: SOUTHBOUND_LIMITS.invitations });
    const expired = kept.filter((record) => bodyOf(record).expiresAt <= this.#now());
    for (const { id } of expired) await this.#records.delete(KIND, id);
    if (kept.length - expired.length >= SOUTHBOUND_LIMITS.invitations)
      throw new Fault("RATE_LIMITED", `${SOUTHBOUND_LIMITS.invitations} invitations are open; wait until some expire.`);
  }
}

interface Body {
  readonly hash: string;
  readonly expiresAt: number;
  readonly name?: string;
  readonly tags?: readonly string[];
  readonly used?: boolean;
}

function bodyOf({ body }: Pick<StoredRecord, "body">): Body {
  return body as unknown as Body;
}

function invitedIn(record: StoredRecord): Invitee {
  const { name, tags } = bodyOf(record);
  return { owner: record.owner, ...(name === undefined ? {} : { name }), ...(tags === undefined ? {} : { tags }) };
}

/** A fast hash is enough for 256 random bits. */
function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function refusedInvitation(): Fault {
  return new Fault(
    "INVALID_TOKEN",
    "The invitation is unknown, was used already, or has expired. Make another: vidro hands invite",
  );
}
