import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, Event, Journal, Lease } from "@vidro/core";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { JOURNAL_ENCODERS } from "../../packages/brain/src/north/journal/entries.ts";
import { streamRun } from "../../packages/brain/src/stream/run-stream.ts";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { sqliteStore } from "../../packages/brain/src/stores/sqlite.ts";
import { INSTANT_HAND, overJournal, runsOver } from "./ours.ts";

/*
 * A server with runs that grow at a steady pace once it is asked for `/go`, in turn, by an entry that says when it was
 * handed over. `/<number>` follows one of them. It says its port on stdout.
 */

const [kind = "", runs = "", threads = "", perSecond = "", seconds = ""] = process.argv.slice(2);
const TICK_MS = 1;

/** A run that can be watched and grows. */
interface Growing {
  follow(response: ServerResponse): void;
  grow(event: Event): void;
}

/** What one writes without thinking, and without keeping anything: each event is encoded and written for each follower. */
function plain(): Growing {
  const followers: ServerResponse[] = [];
  let seq = 1;
  return {
    follow(response) {
      response.writeHead(200, { "content-type": "application/x-ndjson" }).flushHeaders();
      followers.push(response);
    },
    grow(event) {
      seq += 1;
      for (const response of followers) {
        response.write(`${JSON.stringify({ seq, at: Date.now(), event })}\n`);
        if (event.type === "run.finished") response.end();
      }
    },
  };
}

async function ours(journal: Journal, first: Entry, index: number): Promise<Growing> {
  const run = `run_${index}`;
  const all = runsOver(
    journal,
    () => {
      throw new Error("No process drives this run.");
    },
    INSTANT_HAND,
  );
  const { lease } = await journal.create({ id: run, owner: "me", thread: `thread_${index}` }, [first], thisHolder());
  const { signal } = new AbortController();
  const encoder = JOURNAL_ENCODERS.ndjson.kept;
  let seq = 1;
  return {
    follow: (response) => void streamRun(response, { runs: all, run, after: 1, signal, encoder }),
    grow(event) {
      seq += 1;
      void journal.append(lease as Lease, [{ seq, at: Date.now(), event }]);
    },
  };
}

/** A store in which many conversations have been before. */
async function past(folder: string, first: Entry): Promise<Journal> {
  const { journal } = await sqliteStore(join(folder, "journal.db"));
  const over: Entry = { seq: 2, at: first.at, event: { type: "run.finished", result: "over" } };
  const keep = async (thread: number): Promise<void> => {
    const named = { id: `run_past_${thread}`, owner: "me", thread: `thread_past_${thread}` };
    const { lease } = await journal.create(named, [first, over], thisHolder());
    if (lease !== undefined) await journal.release(lease);
  };
  await Promise.all(Array.from({ length: Number(threads) }, (_, thread) => keep(thread)));
  return journal;
}

async function firstEntry(): Promise<Entry> {
  const { journal } = memoryStore();
  await overJournal(journal).run(1);
  const [head] = await journal.list({ limit: 1 });
  const [first] = await journal.read(head?.id ?? "", 0, 1);
  if (first === undefined) throw new Error("There is no run to begin like.");
  return first;
}

/** Hands over as many entries as the time that has passed asks for, whatever timers do. */
function growAll(growing: readonly Growing[]): void {
  const begun = performance.now();
  const all = Number(perSecond) * Number(seconds);
  let given = 0;
  const ticking = setInterval(() => {
    const due = Math.min(all, ((performance.now() - begun) * Number(perSecond)) / 1000);
    for (; given < due; given += 1) {
      const note = String(process.hrtime.bigint());
      growing[given % growing.length]?.grow({ type: "note.observed", note });
    }
    if (given < all) return;
    clearInterval(ticking);
    for (const one of growing) one.grow({ type: "run.finished", result: "over" });
  }, TICK_MS);
}

const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit(0));

const first = await firstEntry();
const journal = await past(folder, first);
const growing = await Promise.all(
  Array.from({ length: Number(runs) }, (_, index) =>
    kind === "plain" ? Promise.resolve(plain()) : ours(journal, first, index),
  ),
);

const server = createServer((request, response) => {
  const what = request.url?.slice(1) ?? "";
  if (what !== "go") return growing[Number(what)]?.follow(response);
  response.end();
  growAll(growing);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
