import { createHash } from "node:crypto";
import { canonicalJson, Fault, HTTP_LIMITS, isObject } from "@vidro/core";
import type { Json, JsonObject, Records, StoredRecord } from "@vidro/core";
import type { Reply } from "./route.ts";

/** A request with an idempotency key, and all that must be the same when it is repeated. */
interface KeyedRequest {
  /** Unique to its caller and route. */
  readonly key: string;
  readonly owner: string;
  /** Parameters, query and body; the same key with others is CONFLICT. */
  readonly asked: Json;
}

const KIND = "idempotency";

/** Keeps replies for a day, so that a request repeated under its key is not carried out again. */
export class IdempotentReplies {
  readonly #records: Records;
  readonly #now: () => number;
  /** Requests under way, so that two concurrent ones with one key are carried out once. */
  readonly #open = new Map<string, { readonly digest: string; readonly done: Promise<unknown> }>();

  constructor(records: Records, now: () => number = Date.now) {
    this.#records = records;
    this.#now = now;
  }

  /**
   * Does the work unless its reply is known. A stream is not kept, only the digest of its request: its work is done
   * again, with the key by which it finds the run that it started.
   */
  async once(request: KeyedRequest, work: () => Promise<Reply>): Promise<Reply> {
    const digest = hash(canonicalJson(request.asked));
    for (;;) {
      const open = this.#open.get(request.key);
      if (open === undefined) break;
      refuseOther(open.digest, digest);
      await open.done.catch(() => undefined);
    }
    const done = this.#once(request, digest, work);
    this.#open.set(request.key, { digest, done });
    try {
      return await done;
    } finally {
      this.#open.delete(request.key);
    }
  }

  async #once(request: KeyedRequest, digest: string, work: () => Promise<Reply>): Promise<Reply> {
    const known = await this.#freshRecord(request.key);
    if (known !== undefined) {
      refuseOther(known.body["digest"], digest);
      const kept = replyOf(known.body["answer"]);
      if (kept !== undefined) return kept;
    }
    const reply = await work();
    if (known === undefined) await this.#keep(request, digest, reply);
    return reply;
  }

  async #freshRecord(key: string): Promise<StoredRecord | undefined> {
    const record = await this.#records.get(KIND, key);
    if (record === undefined || !this.#isOld(record)) return record;
    await this.#records.delete(KIND, key);
    return undefined;
  }

  async #keep({ key, owner }: KeyedRequest, digest: string, reply: Reply): Promise<void> {
    const answer = "json" in reply ? { status: reply.status, headers: reply.headers, json: reply.json } : undefined;
    const fits = JSON.stringify(answer ?? null).length <= HTTP_LIMITS.answerBytes;
    await this.#records.put({ kind: KIND, id: key, owner, body: fits ? { digest, answer } : { digest } });
    const oldest = await this.#records.list(KIND, { limit: HTTP_LIMITS.answersRemoved });
    for (const record of oldest) if (this.#isOld(record)) await this.#records.delete(KIND, record.id);
  }

  #isOld({ createdAt }: StoredRecord): boolean {
    return createdAt + HTTP_LIMITS.answerMs <= this.#now();
  }
}

/** The stored form of a caller's key; the same key of another caller, or on another route, is a different one. */
export function idempotencyKey(owner: string, route: string, key: string): string {
  return hash(canonicalJson([owner, route, key]));
}

/**
 * A key bound to its request, by which the run that it started is found. A key that is reused for another request after
 * its record has expired does not find the run of the first one.
 */
export function keyForRequest(key: string, asked: Json): string {
  return hash(canonicalJson([key, asked]));
}

function refuseOther(digest: Json | undefined, asked: string): void {
  if (digest === asked) return;
  throw new Fault("CONFLICT", "This Idempotency-Key was used for another request: use a new one.");
}

function replyOf(answer: Json | undefined): Reply | undefined {
  if (!isObject(answer)) return undefined;
  const { status, headers, json } = answer as { status?: number; headers?: JsonObject; json?: Json };
  return {
    json: json ?? null,
    ...(status === undefined ? {} : { status }),
    headers: { ...(headers as { readonly [name: string]: string } | undefined), "idempotency-replayed": "true" },
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
