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
}

const BATCH = 500;

/** Puts runs that are over into the store of a home whose daemon is not up yet. */
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

async function keep(journal: Journal, { events, task, ...named }: SeedRun): Promise<void> {
  const started: Event = {
    type: "run.started",
    task,
    system: "",
    agent: "bunny",
    model: "none",
    hand: "local",
    workspace: "/",
    tools: [],
    budget: { steps: 1, actions: 1, tokens: 1, wallMs: 1 },
    thread: named.thread,
    history: [],
  };
  const all = [started, ...events, { type: "run.finished", result: "over" } satisfies Event];
  const entries = all.map((event, index): Entry => ({ seq: index + 1, at: Date.now(), event }));
  const { lease } = await journal.create({ ...named, owner: LOCAL_OWNER }, entries.slice(0, BATCH), thisHolder());
  if (lease === undefined) throw new Error(`${named.id} is there already.`);
  for (let at = BATCH; at < entries.length; at += BATCH) await journal.append(lease, entries.slice(at, at + BATCH));
  await journal.release(lease);
}
