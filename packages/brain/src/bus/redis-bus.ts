import { randomUUIDv7 } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { BUS_LIMITS } from "@vidro/core";
import type { Bus, BusCondition, StreamedItem } from "@vidro/core";
import { redisAddress } from "./redis/address.ts";
import type { RedisAddress } from "./redis/address.ts";
import { redisClient } from "./redis/client.ts";
import type { RedisClient } from "./redis/client.ts";

type Hear = (text: string, from: string) => void;

/** A bus on a Redis; it connects, and connects again, by itself. */
export function redisBus(address: string): Bus {
  return new RedisBus(redisAddress(address));
}

/**
 * The bus is up while messages of this brain to itself come back: that shows the way to the server, its subscriptions and
 * the way back. When they stay away the client is thrown away and another one made, with the same subscriptions.
 */
class RedisBus implements Bus {
  readonly brain = randomUUIDv7();
  readonly #address: RedisAddress;
  readonly #topics = new Map<string, Set<Hear>>();
  readonly #watchers = new Set<(isUp: boolean) => void>();
  readonly #closed = new AbortController();
  readonly #connecting: Promise<void>;
  #client: RedisClient | undefined;
  #isUp = false;
  #why: string;
  #dropped = 0;
  #roundTripMs: number | undefined;
  #heardAt = 0;
  /** The topics that the client is subscribed to. */
  readonly #subscribed = new Set<string>();
  #changing: Promise<void> | undefined;

  constructor(address: RedisAddress) {
    this.#address = address;
    this.#why = `${address.name} has not answered yet`;
    this.#connecting = this.#stayConnected();
  }

  condition(): BusCondition {
    const roundTrip = this.#roundTripMs === undefined ? {} : { roundTripMs: this.#roundTripMs };
    return { isUp: this.#isUp, why: this.#isUp ? "" : this.#why, dropped: this.#dropped, ...roundTrip };
  }

  publish(topic: string, text: string): void {
    this.#do(text.length, (client) => client.publish(this.#channel(topic), `${this.brain} ${text}`));
  }

  subscribe(topic: string, hear: Hear): () => void {
    const hearing = this.#topics.get(topic) ?? new Set();
    // The same function may be given twice, and each stop ends one subscription only.
    const own: Hear = (text, from) => hear(text, from);
    hearing.add(own);
    if (hearing.size === 1) {
      this.#topics.set(topic, hearing);
      void this.#subscribeAsWanted();
    }
    return () => {
      hearing.delete(own);
      if (hearing.size > 0 || this.#topics.get(topic) !== hearing) return;
      this.#topics.delete(topic);
      void this.#subscribeAsWanted();
    };
  }

  watch(notify: (isUp: boolean) => void): () => void {
    this.#watchers.add(notify);
    if (this.#isUp) queueMicrotask(() => void (this.#isUp && this.#watchers.has(notify) && notify(true)));
    return () => this.#watchers.delete(notify);
  }

  keep(key: string, text: string, ttlMs: number): void {
    const expiration = { type: "PX", value: ttlMs };
    this.#do(text.length, (client) => client.set(this.#address.prefix + key, text, { expiration }));
  }

  append(stream: string, { place, text }: StreamedItem): void {
    const key = this.#address.prefix + stream;
    const TRIM = { strategy: "MAXLEN", strategyModifier: "~", threshold: BUS_LIMITS.streamed };
    // An item that is there already has a place that the server refuses.
    this.#do(text.length, (client) => client.xAdd(key, place.join("-"), { event: text }, { TRIM }));
    this.#do(0, (client) => client.pExpire(key, BUS_LIMITS.streamMs));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#connecting;
  }

  #channel(topic: string): string {
    return `${this.#address.prefix}vidro:${topic}`;
  }

  /** Carries out a command without waiting for it. */
  #do(chars: number, work: (client: RedisClient) => Promise<unknown>): void {
    if (this.#client === undefined || !this.#isUp || chars > BUS_LIMITS.messageChars) {
      this.#dropped += 1;
      return;
    }
    work(this.#client).catch(() => (this.#dropped += 1));
  }

  readonly #hear = (message: string, channel: string): void => {
    const space = message.indexOf(" ");
    const from = message.slice(0, space);
    const text = message.slice(space + 1);
    const topic = channel.slice(this.#channel("").length);
    if (from === this.brain) return topic === this.#probe ? this.#heardProbe(Number(text)) : undefined;
    for (const hear of this.#topics.get(topic) ?? []) hear(text, from);
  };

  get #probe(): string {
    return `probe:${this.brain}`;
  }

  #heardProbe(sentAt: number): void {
    this.#heardAt = performance.now();
    this.#roundTripMs = this.#heardAt - sentAt;
    this.#setUp(true);
  }

  #setUp(isUp: boolean): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    for (const notify of this.#watchers) notify(isUp);
  }

  /** Ends the client in use; set while there is one. */
  #lose: () => void = () => undefined;

  async #stayConnected(): Promise<void> {
    for (let tries = 0; !this.#closed.signal.aborted; tries += 1) {
      const connectedAt = performance.now();
      await this.#connectOnce().catch((thrown: unknown) => {
        this.#why = `${this.#address.name} cannot be reached: ${reasonOf(thrown)}`;
      });
      // A connection that held for long begins anew with short delays.
      if (performance.now() - connectedAt > BUS_LIMITS.lostMs + BUS_LIMITS.connectMs) tries = 0;
      const waitMs = Math.min(BUS_LIMITS.retryMs * 2 ** Math.min(tries, 10), BUS_LIMITS.retryCapMs);
      await delay(waitMs * (1 + Math.random()), undefined, this.#closed).catch(() => undefined);
    }
  }

  /** Connects, and resolves or rejects when the connection is gone. */
  async #connectOnce(): Promise<void> {
    const lost = Promise.withResolvers<void>();
    const client = await redisClient(this.#address);
    const late = setTimeout(() => lost.reject(new Error("no answer")), BUS_LIMITS.connectMs);
    const end = (): void => lost.resolve();
    this.#closed.signal.addEventListener("abort", end);
    // A cluster tells of errors that it mends; messages that stay away tell of the others.
    client.on("error", this.#address.kind === "cluster" ? () => undefined : lost.reject);
    try {
      await Promise.race([client.connect(), lost.promise]);
      if (this.#closed.signal.aborted) return;
      this.#client = client;
      this.#lose = () => lost.reject(new Error("a subscription failed"));
      this.#subscribed.clear();
      await Promise.race([this.#subscribeAsWanted(), lost.promise]);
      clearTimeout(late);
      this.#heardAt = performance.now();
      await this.#probeUntil(lost.promise, client);
    } finally {
      clearTimeout(late);
      this.#closed.signal.removeEventListener("abort", end);
      this.#client = undefined;
      this.#setUp(false);
      lost.promise.catch(() => undefined);
      try {
        await client.destroy();
      } catch {
        // It never was connected.
      }
    }
  }

  /** Brings the subscriptions of the client in line with the topics, one change after the other. */
  #subscribeAsWanted(): Promise<void> {
    return (this.#changing ??= this.#changeSubscriptions());
  }

  async #changeSubscriptions(): Promise<void> {
    // Its caller notes that a change is under way before it can end.
    await Promise.resolve();
    let client = this.#client;
    try {
      for (; client !== undefined; client = this.#client) {
        const wanted = new Set([this.#probe, ...this.#topics.keys()]);
        const missing = [...wanted].filter((topic) => !this.#subscribed.has(topic));
        const left = [...this.#subscribed].find((topic) => !wanted.has(topic));
        if (missing.length === 0 && left === undefined) return;
        for (const topic of missing) this.#subscribed.add(topic);
        if (missing.length > 0)
          await client.subscribe(
            missing.map((topic) => this.#channel(topic)),
            this.#hear,
          );
        if (left === undefined) continue;
        this.#subscribed.delete(left);
        await client.unsubscribe(this.#channel(left));
      }
    } catch {
      if (this.#client === client) this.#lose();
    } finally {
      // With the last look and not a turn later: a topic that comes in between would have to wait for the next one.
      this.#changing = undefined;
    }
  }

  /** Sends messages to itself until the connection is lost or they do not come back. */
  async #probeUntil(lost: Promise<void>, client: RedisClient): Promise<void> {
    const silence = Promise.withResolvers<void>();
    const probe = (): void => {
      if (performance.now() - this.#heardAt > BUS_LIMITS.lostMs) return silence.reject(new Error("no answer"));
      client.publish(this.#channel(this.#probe), `${this.brain} ${performance.now()}`).catch(() => undefined);
    };
    const timer = setInterval(probe, BUS_LIMITS.probeMs);
    probe();
    await Promise.race([lost, silence.promise]).finally(() => clearInterval(timer));
  }
}

/** Why a connection failed; an error of several addresses has only a code. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.message || String(Reflect.get(thrown, "code") ?? thrown.name);
}
