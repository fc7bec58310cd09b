import { randomUUIDv7 } from "node:crypto";
import type { Bus } from "@vidro/core";

type Hear = (text: string, from: string) => void;

/** The topics of the brains of this process, by the address that they share. */
const HUBS = new Map<string, Map<string, Set<Hear>>>();

/** A bus between brains of one process, for tests; what it is to keep or to append is dropped. */
export function memoryBus(address: string): Bus {
  const brain = randomUUIDv7();
  const hub = HUBS.get(address) ?? new Map<string, Set<Hear>>();
  HUBS.set(address, hub);
  const stops = new Set<() => void>();
  let isClosed = false;
  return {
    brain,
    condition: () => ({ isUp: !isClosed, why: isClosed ? "it is closed" : "", dropped: 0 }),
    publish(topic, text) {
      if (isClosed) return;
      for (const hear of hub.get(topic) ?? []) queueMicrotask(() => hear(text, brain));
    },
    subscribe(topic, hear) {
      const hearing = hub.get(topic) ?? new Set();
      hub.set(topic, hearing);
      const own: Hear = (text, from) => void (from !== brain && hearing.has(own) && hear(text, from));
      hearing.add(own);
      const stop = (): void => {
        hearing.delete(own);
        stops.delete(stop);
        if (hearing.size === 0 && hub.get(topic) === hearing) hub.delete(topic);
      };
      stops.add(stop);
      return stop;
    },
    watch(notify) {
      queueMicrotask(() => void (isClosed || notify(true)));
      return () => undefined;
    },
    keep: () => undefined,
    append: () => undefined,
    async close() {
      isClosed = true;
      for (const stop of stops) stop();
    },
  };
}
