import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EventType } from "@vidro/core";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import type { Contestant } from "../contest/contestant.ts";
import { overJournal } from "./ours.ts";

/*
 * The least that a durable loop can cost on this disk: a bare node:sqlite loop that writes the very bytes that ours
 * writes, in as many commits. Runs that are asked for in one turn share their commits, as they do in ours.
 */

/** The events that begin a run, by the commit that carries them. */
export const OPENING: readonly (readonly EventType[])[] = [["run.started", "model.called"]];
/** Those of a step. */
export const STEP: readonly (readonly EventType[])[] = [
  ["model.replied", "policy.judged", "action.started"],
  ["action.finished", "model.called"],
];
/** Those that end a run. */
export const CLOSING: readonly (readonly EventType[])[] = [["model.replied", "run.finished"]];

const HASH = Buffer.alloc(32, 1);

/** The bare loop. */
export async function floor(folder: string): Promise<Contestant> {
  const bodyOf = await bodies();
  const database = new DatabaseSync(join(folder, "floor.db"));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE entry (run INTEGER, seq INTEGER, at INTEGER, body TEXT, hash BLOB);
    CREATE UNIQUE INDEX entry_place ON entry (run, seq)`);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const insert = database.prepare("INSERT INTO entry VALUES (?, ?, ?, ?, ?)");
  const commit = database.prepare("COMMIT");
  let runs = 0;
  let together: Promise<void> | undefined;

  /** Writes runs `first` to the newest, all of them step by step. */
  const write = (first: number, steps: number, called: (step: number) => void): void => {
    let seq = 0;
    const commitAll = (commits: readonly (readonly EventType[])[]): void => {
      for (const types of commits) {
        begin.run();
        for (let run = first; run < runs; run += 1) {
          for (const [index, type] of types.entries()) insert.run(run, seq + index, Date.now(), bodyOf(type), HASH);
        }
        seq += types.length;
        commit.run();
      }
    };
    commitAll(OPENING);
    for (let step = 1; step <= steps; step += 1) {
      called(step);
      commitAll(STEP);
    }
    called(steps + 1);
    commitAll(CLOSING);
  };
  const writeTogether = async (first: number, steps: number, called: (step: number) => void): Promise<void> => {
    await Promise.resolve();
    together = undefined;
    write(first, steps, called);
  };
  return {
    run(steps, called = () => undefined) {
      const first = runs;
      runs += 1;
      together ??= writeTogether(first, steps, called);
      return together;
    },
    async close() {
      database.close();
    },
  };
}

/** What ours writes for an event, taken from a run of ours. */
export async function bodies(): Promise<(type: EventType) => string> {
  const { journal } = memoryStore();
  await overJournal(journal).run(20);
  const [head] = await journal.list({ limit: 1 });
  const entries = await journal.read(head?.id ?? "", 0, 200);
  const known = new Map(entries.map(({ event }) => [event.type, JSON.stringify(event)]));
  return (type) => {
    const body = known.get(type);
    if (body === undefined) throw new Error(`Ours wrote no ${type}.`);
    return body;
  };
}
