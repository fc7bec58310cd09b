import { asFault, WEBHOOK_LIMITS } from "@vidro/core";
import type { Entry, Journal } from "@vidro/core";
import { webhookHeaders } from "./signature.ts";
import type { Delivery, Webhook, Webhooks } from "./webhooks.ts";

/** What became of an attempt. */
type Attempt = { readonly status: number } | { readonly reason: string };

/** Dependencies of the deliverer. */
interface DelivererDependencies {
  readonly webhooks: Webhooks;
  readonly journal: Pick<Journal, "head" | "read">;
  readonly now: () => number;
  /** A message was given up after its last attempt, or its receiver is gone for good. */
  readonly gaveUp: (hook: Webhook, delivery: Delivery, reason: string) => void;
}

const GONE = 410;
const isGood = (status: number): boolean => status >= 200 && status < 300;

/** Sends messages to webhooks until they are taken: at least once each, under one id, with growing delays. */
export class Deliverer {
  readonly #deps: DelivererDependencies;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopWatching: (() => void) | undefined;
  /** When a receiver that did not answer is tried again. */
  readonly #resting = new Map<string, number>();

  constructor(deps: DelivererDependencies) {
    this.#deps = deps;
  }

  /** Looks at once, whenever a message is recorded, and at the time of the next attempt. */
  start(): void {
    this.#stopWatching = this.#deps.webhooks.watch(() => this.#wake());
    this.#wake();
  }

  /** Stops; messages under way are cut off and tried again later. */
  async close(): Promise<void> {
    this.#stopWatching?.();
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Sends every message whose time has come, to all receivers at once; returns the time of the next attempt. */
  async look(): Promise<number> {
    const { webhooks, now } = this.#deps;
    const next = await Promise.all(webhooks.list().map((hook) => this.#lookFor(hook)));
    return Math.min(now() + WEBHOOK_LIMITS.lookMs, ...next);
  }

  /** Sends the messages of one receiver in their order; one that does not answer is left alone for a while. */
  async #lookFor(hook: Webhook): Promise<number> {
    const { webhooks, now } = this.#deps;
    const restsUntil = this.#resting.get(hook.id) ?? 0;
    if (restsUntil > now()) return restsUntil;
    const all = await webhooks.waiting(hook.id);
    const surplus = Math.max(0, all.length - WEBHOOK_LIMITS.waiting);
    for (const delivery of all.slice(0, surplus)) await this.#giveUp(hook, delivery, "too many messages wait");
    let soonest = now() + WEBHOOK_LIMITS.lookMs;
    for (const delivery of all.slice(surplus)) {
      if (this.#end.signal.aborted) break;
      if (delivery.nextAt > now()) soonest = Math.min(soonest, delivery.nextAt);
      else if (!(await this.#deliver(hook, delivery))) return this.#rest(hook);
    }
    return soonest;
  }

  #rest({ id }: Webhook): number {
    const until = this.#deps.now() + WEBHOOK_LIMITS.delaysMs[0];
    this.#resting.set(id, until);
    return until;
  }

  #wake(): void {
    this.#again = true;
    if (this.#end.signal.aborted) return;
    this.#looking ??= this.#lookUntilQuiet();
  }

  async #lookUntilQuiet(): Promise<void> {
    let next = 0;
    while (this.#again && !this.#end.signal.aborted) {
      this.#again = false;
      // A store that cannot be read is reported by the health of the brain.
      next = await this.look().catch(() => this.#deps.now() + WEBHOOK_LIMITS.lookMs);
    }
    clearTimeout(this.#timer);
    // In the same turn as the last look at it: a message that is recorded in between would wait for the timer.
    this.#looking = undefined;
    if (this.#end.signal.aborted) return;
    this.#timer = setTimeout(() => this.#wake(), Math.max(WEBHOOK_LIMITS.leastMs, next - this.#deps.now())).unref();
  }

  /** Tries to deliver a message; false when the receiver did not answer. */
  async #deliver(hook: Webhook, delivery: Delivery): Promise<boolean> {
    const { webhooks, now } = this.#deps;
    const attempts = delivery.attempts + 1;
    const delayMs = WEBHOOK_LIMITS.delaysMs[attempts - 1];
    // Claimed before it is sent, so that of several brains one sends it.
    if (!(await webhooks.postpone(delivery, attempts, now() + (delayMs ?? WEBHOOK_LIMITS.lookMs)))) return true;
    const body = await this.#bodyOf(delivery);
    if (body === undefined) {
      // A message is recorded with its entry: without that one, the run was deleted.
      await webhooks.drop(delivery);
      return true;
    }
    const attempt = await this.#send(hook, delivery, body);
    if (this.#end.signal.aborted) return true;
    if (!("status" in attempt)) {
      if (delayMs === undefined) await this.#giveUp(hook, delivery, attempt.reason);
      return false;
    }
    const { status } = attempt;
    if (isGood(status)) await webhooks.drop(delivery);
    else if (delayMs === undefined || status === GONE) await this.#giveUp(hook, delivery, `status ${status}`);
    // The receiver says that it wants no more messages.
    if (status === GONE) await webhooks.remove(hook.id);
    return true;
  }

  async #giveUp(hook: Webhook, delivery: Delivery, reason: string): Promise<void> {
    await this.#deps.webhooks.drop(delivery);
    this.#deps.gaveUp(hook, delivery, reason);
  }

  async #bodyOf({ run, seq }: Delivery): Promise<string | undefined> {
    const { journal } = this.#deps;
    const head = await journal.head(run);
    const [entry] = head === undefined || head.seq < seq ? [] : await journal.read(run, seq - 1, 1);
    if (head === undefined || entry === undefined) return undefined;
    const { owner, thread, task, status } = head;
    const about = { run_id: run, thread_id: thread, owner, task: task.slice(0, WEBHOOK_LIMITS.taskChars), status, seq };
    const whole = JSON.stringify(message(entry, { ...about, event: entry.event }));
    return whole.length <= WEBHOOK_LIMITS.bodyChars ? whole : JSON.stringify(message(entry, { ...about, event: null }));
  }

  async #send(hook: Webhook, { id }: Delivery, body: string): Promise<Attempt> {
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(WEBHOOK_LIMITS.sendMs)]);
    const headers = {
      "content-type": "application/json",
      ...webhookHeaders(hook.secret, { id, at: this.#deps.now(), body }),
    };
    try {
      const response = await fetch(hook.url, { method: "POST", headers, body, redirect: "manual", signal });
      await response.body?.cancel();
      return { status: response.status };
    } catch (thrown) {
      return { reason: asFault(thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown).message };
    }
  }
}

/** A message in the shape of Standard Webhooks. */
function message({ at, event }: Entry, data: object): object {
  return { type: event.type, timestamp: new Date(at).toISOString(), data };
}
