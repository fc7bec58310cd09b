import { createHash } from "node:crypto";
import { canonicalJson, Fault, HTTP_LIMITS, isObject } from "@vidro/core";
import type { Json, JsonObject, Records, StoredRecord } from "@vidro/core";
import type { Reply } from "./route.ts";

/** A request that may come again: the key that the caller gave it, and all that must then be the same. */
interface Repeatable {
  /** Unique to its caller and route. */
  readonly key: string;
  readonly owner: string;
  /** What the request asks for; the same key with another one is CONFLICT. */
  readonly asked: Json;
}

const KIND = "idempotency";

/** Answers that are kept for a day, so that a request that is repeated under its key is not carried out again. */
export class IdempotentReplies {
  readonly #records: Records;
  readonly #now: () => number;
  /** Requests that are being answered, so that two at the same time are one. */
  readonly #open = new Map<string, { readonly digest: string; readonly done: Promise<unknown> }>();

  constructor(records: Records, now: () => number = Date.now) {
    this.#records = records;
    this.#now = now;
  }

  /**
   * Does the work unless its answer is known. A stream is never kept, only what it was asked for: its work is done
   * again, and is told the key so that it can find what it began.
   */
  async once(request: Repeatable, work: () => Promise<Reply>): Promise<Reply> {
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

  async #once(request: Repeatable, digest: string, work: () => Promise<Reply>): Promise<Reply> {
    const known = await this.#known(request.key);
    if (known !== undefined) {
      refuseOther(known.body["digest"], digest);
      const kept = replyOf(known.body["answer"]);
      if (kept !== undefined) return kept;
    }
    const reply = await work();
    if (known === undefined) await this.#keep(request, digest, reply);
    return reply;
  }

  async #known(key: string): Promise<StoredRecord | undefined> {
    const record = await this.#records.get(KIND, key);
    if (record === undefined || !this.#isOld(record)) return record;
    await this.#records.delete(KIND, key);
    return undefined;
  }

  async #keep({ key, owner }: Repeatable, digest: string, reply: Reply): Promise<void> {
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

/** The name under which a caller's key is kept: the same key of another caller, or on another path, is another. */
export function idempotencyKey(owner: string, route: string, key: string): string {
  return hash(canonicalJson([owner, route, key]));
}

/**
 * A key together with what was asked under it: what was begun is found by this. A key that comes again with another
 * request when its record is gone finds nothing, and never what the first request began.
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
