import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Entry, Lease } from "@vidro/core";
import { thisHolder } from "../../packages/brain/src/stores/lease-holder.ts";
import { JOURNAL_ENCODERS } from "../../packages/brain/src/north/journal/entries.ts";
import { streamRun } from "../../packages/brain/src/stream/run-stream.ts";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { INSTANT_HAND, overJournal, runsOver } from "./ours.ts";

/*
 * A server that shows a growing run to everybody who asks for `/<name>`, and lets it grow when it is asked for
 * `/<name>/go`: the entries of one step in each turn of the event loop. `/<name>/cost` is the processor time that it
 * took since then, in microseconds. It says its port on stdout.
 */

const ENTRIES_PER_STEP = 5;

/** Shows the run to one more follower; gets the entries of each step. */
interface Show {
  follow(response: ServerResponse): void;
  grow(entries: readonly Entry[]): Promise<void>;
}

/** What one writes without thinking: each event of each follower is encoded and written by itself. */
function plain(first: Entry): Show {
  const followers: ServerResponse[] = [];
  const event = (entry: Entry): string => `id: ${entry.seq}\ndata: ${JSON.stringify(entry)}\n\n`;
  return {
    follow(response) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      response.write(event(first));
      followers.push(response);
    },
    async grow(entries) {
      for (const entry of entries) for (const response of followers) response.write(event(entry));
      if (entries.at(-1)?.event.type === "run.finished") for (const response of followers) response.end();
    },
  };
}

async function ours(first: Entry, wire: "sse" | "ndjson"): Promise<Show> {
  const run = "run_shown";
  const { journal } = memoryStore();
  const runs = runsOver(
    journal,
    () => {
      throw new Error("No process drives this run.");
    },
    INSTANT_HAND,
  );
  const created = await journal.create({ id: run, owner: "local", thread: "t" }, [first], thisHolder());
  const lease = created.lease as Lease;
  const { signal } = new AbortController();
  const encoder = JOURNAL_ENCODERS[wire].kept;
  return {
    follow: (response) => void streamRun(response, { runs, run, after: 0, signal, encoder }),
    grow: (entries) => journal.append(lease, entries),
  };
}

/** The entries of a run of ours. */
async function entriesOf(steps: number): Promise<readonly Entry[]> {
  const { journal } = memoryStore();
  await overJournal(journal).run(steps);
  const [head] = await journal.list({ limit: 1 });
  return journal.read(head?.id ?? "", 0, Number.MAX_SAFE_INTEGER);
}

const [kind = "", steps = ""] = process.argv.slice(2);
const [first, ...rest] = await entriesOf(Number(steps));
if (first === undefined) throw new Error("There is no run to show.");

const shown = new Map<string, Promise<Show>>();

function showOf(name: string, entry: Entry): Promise<Show> {
  const show =
    shown.get(name) ??
    (kind === "plain" ? Promise.resolve(plain(entry)) : ours(entry, kind === "ndjson" ? "ndjson" : "sse"));
  shown.set(name, show);
  return show;
}

async function grow(show: Show): Promise<void> {
  for (let at = 0; at < rest.length; at += ENTRIES_PER_STEP) {
    await show.grow(rest.slice(at, at + ENTRIES_PER_STEP));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

let since = process.cpuUsage();

const server = createServer((request, response) => {
  const [, name = "", what] = request.url?.split("/") ?? [];
  void showOf(name, first).then((show) => {
    if (what === undefined) return show.follow(response);
    const { user, system } = process.cpuUsage(since);
    response.end(String(user + system));
    if (what === "cost") return;
    since = process.cpuUsage();
    return grow(show);
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
