import { setTimeout as pause } from "node:timers/promises";
import type { Event } from "@vidro/core";
import type { JournalItem, ResumableWire } from "../support/resumable-wires.ts";
import type { ChaosStand } from "./harness.ts";

const AGAIN_MS = 40;

/** Follows one run over one wire through every cut, by its cursor, until the run is over or nothing more is wanted. */
export class ChaosFollower {
  readonly run: string;
  readonly wire: ResumableWire;
  /** Each entry that came, in the order in which it came. */
  readonly seen: JournalItem[] = [];
  readonly over: Promise<void>;
  /** How often it had to come again. */
  cuts = 0;
  readonly #stand: ChaosStand;
  readonly #hear: (event: Event) => void;
  readonly #stop = new AbortController();

  constructor(
    stand: ChaosStand,
    about: { run: string; wire: ResumableWire },
    hear: (event: Event) => void = () => undefined,
  ) {
    this.#stand = stand;
    this.run = about.run;
    this.wire = about.wire;
    this.#hear = hear;
    this.over = this.#follow();
  }

  /** Whether the last entry of the run has come. */
  get isDone(): boolean {
    const { type } = eventOf(this.seen.at(-1)) ?? {};
    return type === "run.finished" || type === "run.failed" || type === "run.aborted";
  }

  /** Leaves. */
  async leave(): Promise<void> {
    this.#stop.abort();
    await this.over;
  }

  async #follow(): Promise<void> {
    while (!this.isDone && !this.#stop.signal.aborted) {
      await this.#connect().catch(() => undefined);
      this.cuts += 1;
      await pause(AGAIN_MS);
    }
  }

  async #connect(): Promise<void> {
    const { path, headers } = this.wire.request(this.run, this.seen.at(-1)?.seq ?? 0);
    const response = await this.#stand.ask(path, { headers, signal: this.#stop.signal });
    if (response.status !== 200) return response.body?.cancel();
    for await (const item of this.wire.kept(response)) {
      this.seen.push(item);
      const event = eventOf(item);
      if (event !== undefined) this.#hear(event);
    }
  }
}

function eventOf(item: JournalItem | undefined): Event | undefined {
  return item?.["event"] as unknown as Event | undefined;
}
