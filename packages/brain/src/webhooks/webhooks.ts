import { randomUUIDv7 } from "node:crypto";
import { Fault, isEventType, WEBHOOK_LIMITS } from "@vidro/core";
import type { Entry, EventType, Json, JsonObject, NewRecord, Records, StoredRecord } from "@vidro/core";
import { newWebhookSecret } from "./signature.ts";

/** An address that is told of events of runs. */
export interface Webhook {
  readonly id: string;
  readonly owner: string;
  readonly url: string;
  /** Types of the events that it is told of. */
  readonly events: readonly EventType[];
  /** Key of its signatures; shown once. */
  readonly secret: string;
  readonly createdAt: number;
}

/** A message that an address is still to get. */
export interface Delivery {
  /** The same at each attempt, so that a receiver knows a repetition. */
  readonly id: string;
  readonly webhook: string;
  readonly run: string;
  readonly seq: number;
  readonly attempts: number;
  /** When it is tried next. */
  readonly nextAt: number;
  readonly version: number;
}

/** The events that concern a person: a run asks, or has ended. */
export const UNASKED_EVENTS: readonly EventType[] = ["question.asked", "run.finished", "run.failed", "run.aborted"];

const KIND = "webhook";

/** The kind of the messages of one webhook: each has its own, so that one receiver that is down holds up no other. */
const deliveryKind = (webhook: string): string => `delivery:${webhook}`;

/** The webhooks of a brain and the messages that wait for them, all durable. */
export class Webhooks {
  readonly #records: Records;
  readonly #now: () => number;
  /** All webhooks, read again after each change. */
  #known: readonly Webhook[] = [];
  #stopWatching: (() => void) | undefined;
  #changed: () => void = () => undefined;
  /** What ends the watch over the messages of each webhook. */
  readonly #watches = new Map<string, () => void>();

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Reads the webhooks, and again after each change, also by another process. */
  async open(): Promise<void> {
    this.#stopWatching = this.#records.watch(KIND, () => void this.#read().catch(() => undefined));
    await this.#read();
  }

  /** Stops watching. */
  close(): void {
    this.#stopWatching?.();
    for (const stop of this.#watches.values()) stop();
  }

  /** Adds a webhook with a new secret. */
  async add({ url, events }: Pick<Webhook, "url" | "events">, owner: string): Promise<Webhook> {
    const place = URL.parse(url);
    if (place === null || !/^https?:$/.test(place.protocol))
      throw new Fault("BAD_REQUEST", `${JSON.stringify(url)} is no address that begins with http: or https:.`);
    if (place.username !== "" || place.password !== "")
      throw new Fault(
        "BAD_REQUEST",
        "The address of a webhook has no user and password: messages are signed with its secret instead.",
      );
    const unknown = events.find((type) => !isEventType(type));
    if (unknown !== undefined)
      throw new Fault(
        "BAD_REQUEST",
        `There is no event ${JSON.stringify(unknown)}; docs/reference/events.md lists them.`,
      );
    if (this.#known.length >= WEBHOOK_LIMITS.webhooks)
      throw new Fault("CONFLICT", `There are ${WEBHOOK_LIMITS.webhooks} webhooks already; remove one first.`);
    const id = `webhook_${randomUUIDv7()}`;
    const hook: Webhook = { id, owner, url: place.href, events, secret: newWebhookSecret(), createdAt: this.#now() };
    const { id: _, owner: __, ...body } = hook;
    await this.#records.put({ kind: KIND, id, owner, body: body as Json as JsonObject });
    await this.#read();
    return hook;
  }

  /** All webhooks, oldest first. */
  list(): readonly Webhook[] {
    return this.#known;
  }

  /** The webhook of that id; undefined when it was removed. */
  find(id: string): Webhook | undefined {
    return this.#known.find((hook) => hook.id === id);
  }

  /** Removes a webhook; NOT_FOUND when there is none. What waits for it is dropped. */
  async remove(id: string): Promise<void> {
    if (!(await this.#records.delete(KIND, id)))
      throw new Fault("NOT_FOUND", `There is no webhook ${JSON.stringify(id)}.`);
    await this.#read();
    for (const delivery of await this.waiting(id)) await this.drop(delivery);
  }

  /** The messages about entries, as records. */
  messagesAbout(run: string, entries: readonly Entry[]): readonly NewRecord[] {
    return entries.flatMap(({ seq, event }) =>
      this.#known
        .filter(({ events }) => events.includes(event.type))
        .map(({ id: webhook, owner }) => ({
          kind: deliveryKind(webhook),
          id: `msg_${webhook}_${run}_${seq}`,
          owner,
          body: { webhook, run, seq, attempts: 0, nextAt: this.#now() },
        })),
    );
  }

  /** The messages that wait for a webhook, oldest first, and some beyond the bound. */
  async waiting(webhook: string): Promise<readonly Delivery[]> {
    const limit = 2 * WEBHOOK_LIMITS.waiting;
    return (await this.#records.list(deliveryKind(webhook), { limit, order: "oldest" })).map(deliveryOf);
  }

  /** Sets the next attempt of a message; false when another process changed it meanwhile. */
  async postpone({ id, webhook, run, seq, version }: Delivery, attempts: number, nextAt: number): Promise<boolean> {
    const owner = this.find(webhook)?.owner ?? "";
    const body = { webhook, run, seq, attempts, nextAt };
    try {
      await this.#records.put({ kind: deliveryKind(webhook), id, owner, body }, version);
      return true;
    } catch (thrown) {
      if (thrown instanceof Fault && thrown.code === "CONFLICT") return false;
      throw thrown;
    }
  }

  /** Forgets a message: it was delivered or given up, or its run was deleted. */
  async drop({ id, webhook }: Pick<Delivery, "id" | "webhook">): Promise<void> {
    await this.#records.delete(deliveryKind(webhook), id);
  }

  /** Calls `changed` after each change of the messages that wait; returns a function that stops that. */
  watch(changed: () => void): () => void {
    this.#changed = changed;
    return () => (this.#changed = () => undefined);
  }

  async #read(): Promise<void> {
    const rows = await this.#records.list(KIND, { limit: WEBHOOK_LIMITS.webhooks, order: "oldest" });
    this.#known = rows.map(webhookOf);
    for (const { id } of this.#known)
      if (!this.#watches.has(id))
        this.#watches.set(
          id,
          this.#records.watch(deliveryKind(id), () => this.#changed()),
        );
    for (const [id, stop] of this.#watches) {
      if (this.find(id) !== undefined) continue;
      stop();
      this.#watches.delete(id);
    }
  }
}

function webhookOf({ id, owner, body }: StoredRecord): Webhook {
  return { ...(body as Json as unknown as Omit<Webhook, "id" | "owner">), id, owner };
}

function deliveryOf({ id, body, version }: StoredRecord): Delivery {
  return { ...(body as Json as unknown as Omit<Delivery, "id" | "version">), id, version };
}
