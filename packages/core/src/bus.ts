/** One item of a stream of a task, for programs that read the bus. */
export interface StreamedItem {
  /** Its place: the `seq` of an entry and 0, or the `seq` of the entry before a live event and a number from 1 on. */
  readonly place: readonly [seq: number, number: number];
  readonly text: string;
}

/** How a bus is doing. */
export interface BusCondition {
  /** Whether other brains can be reached now. */
  readonly isUp: boolean;
  /** Why it is down; empty when it is up. */
  readonly why: string;
  /** Messages and writes that were dropped because the bus was down or full. */
  readonly dropped: number;
  /** How long the last message took to come back to its own brain; undefined before the first. */
  readonly roundTripMs?: number;
}

/**
 * Carries messages between brains that share a store. Nothing on it is truth: a message may be lost or come twice, what is
 * kept may vanish, and no method throws or rejects. Messages of one brain on one topic come in their order.
 */
export interface Bus {
  /** The name of this brain on the bus; each start has another one. */
  readonly brain: string;
  condition(): BusCondition;
  /** Sends a text to the other brains that are subscribed to a topic; dropped while the bus is down. */
  publish(topic: string, text: string): void;
  /** Calls `hear` for each text that another brain publishes on a topic, and its name. Returns a function that stops it. */
  subscribe(topic: string, hear: (text: string, from: string) => void): () => void;
  /** Calls `notify` each time the bus has become reachable or unreachable. Returns a function that stops it. */
  watch(notify: (isUp: boolean) => void): () => void;
  /** Keeps a text under a key for a time, for programs that read the bus. */
  keep(key: string, text: string, ttlMs: number): void;
  /** Appends to a stream, for programs that read the bus; an item at or before the last place is dropped. */
  append(stream: string, item: StreamedItem): void;
  /** Ends the connection. */
  close(): Promise<void>;
}
