import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bus } from "@vidro/core";

/** Resolves when a bus is up. */
export function whenUp(bus: Bus, isUp = true): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = bus.watch((now) => now === isUp && resolve());
  if (bus.condition().isUp === isUp) resolve();
  return promise.finally(stop);
}

/** Collects texts of a topic until there are `count`. */
export function collect(bus: Bus, topic: string, count: number): Promise<readonly string[]> {
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const heard: string[] = [];
  const stop = bus.subscribe(topic, (text) => void (heard.push(text) === count && resolve(heard)));
  return promise.finally(stop);
}

/** Publishes to itself by way of another brain, so that what was subscribed before it is in force. */
export async function settle(one: Bus, other: Bus): Promise<void> {
  const topic = `settle:${one.brain}`;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stops = [one.subscribe(topic, () => resolve())];
  const again = setInterval(() => other.publish(topic, "now"), 5);
  await promise;
  clearInterval(again);
  for (const stop of stops) stop();
}

/** The suite that every bus passes; `open` gives brains that share one bus. */
export function busContract(name: string, open: (count: number) => Promise<readonly Bus[]>): void {
  const withBuses = async (count: number, work: (...buses: readonly Bus[]) => Promise<void>): Promise<void> => {
    const buses = await open(count);
    await Promise.all(buses.map((bus) => whenUp(bus)));
    try {
      await work(...buses);
    } finally {
      await Promise.all(buses.map((bus) => bus.close()));
    }
  };

  test(`${name}: a message reaches the other brains in order, and not its own`, async () => {
    await withBuses(3, async (one, two, three) => {
      assert.ok(one && two && three);
      const own: string[] = [];
      one.subscribe("topic", (text) => own.push(text));
      const sent = Array.from({ length: 200 }, (_, index) => `${index} "é" \u0000 \n 😀`);
      const heard = [collect(two, "topic", sent.length), collect(three, "topic", sent.length)];
      await Promise.all([settle(two, one), settle(three, one)]);
      for (const text of sent) one.publish("topic", text);
      assert.deepEqual(await Promise.all(heard), [sent, sent]);
      assert.deepEqual(own, []);
    });
  });

  test(`${name}: a message names its brain, and a topic that was left tells nothing`, async () => {
    await withBuses(2, async (one, two) => {
      assert.ok(one && two);
      const heard: string[] = [];
      const hear = (text: string, from: string): void => void heard.push(`${text} of ${from}`);
      const stops = [two.subscribe("a", hear), two.subscribe("a", hear), two.subscribe("b", hear)];
      await settle(two, one);
      one.publish("a", "first");
      await settle(two, one);
      assert.deepEqual(heard, [`first of ${one.brain}`, `first of ${one.brain}`]);
      stops[0]?.();
      one.publish("a", "second");
      await settle(two, one);
      assert.equal(heard.length, 3);
      for (const stop of stops) stop();
      one.publish("a", "third");
      one.publish("b", "third");
      await settle(two, one);
      assert.equal(heard.length, 3);
    });
  });

  test(`${name}: a message of a megabyte arrives whole, and a closed bus sends and tells nothing`, async () => {
    await withBuses(2, async (one, two) => {
      assert.ok(one && two);
      const heard = collect(two, "large", 1);
      await settle(two, one);
      const large = "x".repeat(1024 * 1024);
      one.publish("large", large);
      assert.deepEqual(await heard, [large]);
      await two.close();
      assert.equal(two.condition().isUp, false);
      two.publish("large", "lost");
      two.keep("key", "lost", 1000);
      two.append("stream", { place: [1, 0], text: "lost" });
      assert.equal(one.condition().isUp, true);
    });
  });
}
