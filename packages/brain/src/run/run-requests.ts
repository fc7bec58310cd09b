import { randomUUIDv7 } from "node:crypto";
import { asFault, Fault, FAULTS, isObject, RUN_LIMITS } from "@vidro/core";
import type { FaultCode, Json, JsonObject, Records, RemarkMade, StoredRecord } from "@vidro/core";
import { LOCAL_OWNER } from "../auth/caller.ts";
import type { QuestionAnswer } from "./person-answer.ts";

/** A request about a run, for the brain that drives it. */
export type RunRequest =
  | { readonly kind: "answer"; readonly run: string; readonly answer: QuestionAnswer }
  | { readonly kind: "say"; readonly run: string; readonly remark: Omit<RemarkMade, "type"> }
  | { readonly kind: "abort"; readonly run: string; readonly reason: string };

/** Passes a request to the brain that drives the run. */
export type PassRequest = (request: RunRequest) => Promise<void>;

/** Carries out a request; undefined when this brain does not drive the run. */
type ServeRequest = (request: RunRequest) => Promise<void> | undefined;

const KIND = "run-request";

/**
 * Passes answers, remarks and aborts between brains that share a store. A request is a record: the brain that drives the run sees
 * it by a wake, carries it out once, and writes its end into it. The caller reads the end and deletes the record.
 */
export class RunRequests {
  readonly #records: Records;
  readonly #now: () => number;
  /** Requests that this brain carries out or has carried out. */
  readonly #served = new Set<string>();
  /** Requests that are being carried out. */
  readonly #serving = new Set<Promise<void>>();
  #looking: Promise<void> | undefined;
  #isWoken = false;
  #stop = (): void => undefined;

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Carries out requests to this brain, until it is closed. */
  serve(serve: ServeRequest): void {
    this.#stop = this.#records.watch(KIND, () => {
      this.#isWoken = true;
      this.#looking ??= this.#look(serve);
    });
  }

  /** Passes a request on; rejects with the fault of the brain that carried it out, or RUN_BUSY when none did in time. */
  async pass(request: RunRequest): Promise<void> {
    const id = randomUUIDv7();
    const ended = Promise.withResolvers<Json>();
    const look = (): void => void this.#end(id).then((end) => end !== undefined && ended.resolve(end), ended.reject);
    const stop = this.#records.watch(KIND, look);
    const late = setTimeout(() => ended.reject(unansweredFault(request.run)), RUN_LIMITS.relayMs);
    try {
      const body: JsonObject = { request: JSON.stringify(request), at: this.#now() };
      await this.#records.put({ kind: KIND, id, owner: LOCAL_OWNER, body }, 0);
      throwIfFault(await ended.promise);
    } finally {
      stop();
      clearTimeout(late);
      await this.#records.delete(KIND, id);
    }
  }

  /** Stops serving; requests under way are waited for. */
  async close(): Promise<void> {
    this.#stop();
    await this.#looking;
    await Promise.all(this.#serving);
  }

  async #end(id: string): Promise<Json | undefined> {
    return (await this.#records.get(KIND, id))?.body["end"];
  }

  async #look(serve: ServeRequest): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false;
      try {
        const found = await this.#records.list(KIND, { limit: RUN_LIMITS.relayed });
        const ids = new Set(found.map(({ id }) => id));
        for (const id of this.#served) if (!ids.has(id)) this.#served.delete(id);
        for (const record of found) this.#begin(this.#serveOne(record, serve));
      } catch {
        // The caller repeats the request.
      }
    }
    // In the same turn as the last look at it: a wake in between would be lost.
    this.#looking = undefined;
  }

  /** One request that takes long keeps no other waiting. */
  #begin(serving: Promise<void>): void {
    const settled = serving.catch(() => undefined).finally(() => this.#serving.delete(settled));
    this.#serving.add(settled);
  }

  async #serveOne(record: StoredRecord, serve: ServeRequest): Promise<void> {
    const { kind, id, owner, body, version } = record;
    const { request, at } = body;
    if (typeof at === "number" && this.#now() - at > 2 * RUN_LIMITS.relayMs) {
      // Its caller is gone.
      await this.#records.delete(kind, id);
      return;
    }
    if (body["end"] !== undefined || this.#served.has(id) || typeof request !== "string") return;
    const parsed: RunRequest = JSON.parse(request);
    const carriedOut = serve(parsed);
    if (carriedOut === undefined) return;
    this.#served.add(id);
    const end = await carriedOut.then(
      () => ({ ok: true }),
      (thrown: unknown) => {
        const { code, message } = asFault(thrown);
        return { ok: false, code, message };
      },
    );
    await this.#records.put({ kind, id, owner, body: { ...body, end } }, version);
  }
}

/** Does the work here, or passes the request on when another brain drives the run. */
export async function orPassedOn(
  pass: PassRequest | undefined,
  work: () => Promise<void>,
  request: RunRequest,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (pass === undefined || asFault(thrown).code !== "RUN_BUSY") throw thrown;
    await pass(request);
  }
}

function throwIfFault(end: Json): void {
  if (!isObject(end) || end["ok"] === true) return;
  const { code, message } = end;
  throw new Fault(isFaultCode(code) ? code : "INTERNAL_ERROR", typeof message === "string" ? message : undefined);
}

function isFaultCode(code: unknown): code is FaultCode {
  return typeof code === "string" && Object.hasOwn(FAULTS, code);
}

function unansweredFault(run: string): Fault {
  const what = `The brain that drives run ${run} did not take the request within ${RUN_LIMITS.relayMs} ms.`;
  return new Fault(
    "RUN_BUSY",
    `${what} If it is dead, another takes the run over within 30 s; repeat the request then.`,
  );
}
