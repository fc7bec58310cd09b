import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_OWNER } from "../../packages/brain/src/auth/caller.ts";
import type { Entry, Event, Journal } from "@vidro/core";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { openStore } from "../../packages/brain/src/stores/stores.ts";

/** A run as it is found in a store. */
export interface SeedRun {
  readonly id: string;
  readonly thread: string;
  readonly task: string;
  /** What happened between its beginning and its end. */
  readonly events: readonly Event[];
  /** The key under which it was begun. */
  readonly key?: string;
  /** Whether it has no end: the daemon goes on with it. */
  readonly isOpen?: boolean;
}

const BATCH = 500;
const NO_BOUND = { steps: 1e6, actions: 1e6, tokens: 1e9, wallMs: 1e9 };

/** Puts runs into the store of a home whose daemon is not up yet. */
export async function seedStore(home: string, runs: Iterable<SeedRun>): Promise<void> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const store = await openStore("sqlite", join(home, "journal.db"));
  let open: Promise<void>[] = [];
  for (const run of runs) {
    open.push(keep(store.journal, run));
    if (open.length < BATCH) continue;
    // Those that are kept at once share their commits.
    await Promise.all(open);
    open = [];
  }
  await Promise.all(open);
  await store.close();
}

async function keep(journal: Journal, { events, task, isOpen = false, ...named }: SeedRun): Promise<void> {
  const started: Event = {
    type: "run.started",
    task,
    system: "",
    agent: "bunny",
    model: "none",
    hand: "local",
    workspace: "/",
    tools: [],
    budget: isOpen ? NO_BOUND : { steps: 1, actions: 1, tokens: 1, wallMs: 1 },
    thread: named.thread,
    history: [],
  };
  const finished: Event = { type: "run.finished", result: "over" };
  const all = [started, ...events, ...(isOpen ? [] : [finished])];
  const entries = all.map((event, index): Entry => ({ seq: index + 1, at: Date.now(), event }));
  const { lease } = await journal.create({ ...named, owner: LOCAL_OWNER }, entries.slice(0, BATCH), thisHolder());
  if (lease === undefined) throw new Error(`${named.id} is there already.`);
  for (let at = BATCH; at < entries.length; at += BATCH) await journal.append(lease, entries.slice(at, at + BATCH));
  await journal.release(lease);
}
