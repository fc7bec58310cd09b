import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { ndjsonDecoder } from "@vidro/core/codec";
import type { Entry, Event, Hand, Journal, JsonObject, Lease, LiveBus, Model } from "@vidro/core";
import { thisHolder } from "../stores/lease-holder.ts";
import { liveBus } from "../run/live-bus.ts";
import { Runs } from "../run/runs.ts";
import { memoryStore } from "../stores/memory.ts";
import { JOURNAL_ENCODERS } from "./journal/entries.ts";
import { streamRun } from "../stream/run-stream.ts";
import type { RunStream } from "../stream/run-stream.ts";

const NO_MODEL: Model = { name: "none", call: never };
const NO_HAND = { id: "none", workspace: "/", tools: [] } as unknown as Hand;
const STARTED: Event = {
  type: "run.started",
  task: "grow",
  system: "",
  agent: "bunny",
  model: "none",
  hand: "none",
  workspace: "/",
  tools: [],
  budget: { steps: 1, actions: 1, tokens: 1, wallMs: 1 },
  thread: "t",
  history: [],
};

function never(): never {
  throw new Error("No process drives this run.");
}

/** A run that grows as a test says, and a server that shows it to its clients. */
export class Shown {
  readonly run = "run_shown";
  readonly runs: Runs;
  readonly journal: Journal;
  readonly live: LiveBus = liveBus();
  /** The responses that were begun, and how each came to its end. */
  readonly responses: ServerResponse[] = [];
  readonly ends: Promise<unknown>[] = [];
  /** How many watch the run's journal. */
  watching = 0;
  seq = 1;
  readonly #server = createServer((request, response) => this.#show(new URL(request.url ?? "", "http://x"), response));
  #lease: Lease | undefined;
  /** How the next ones are shown. */
  more: Partial<RunStream> = {};

  constructor(change: (journal: Journal) => Partial<Journal> = () => ({})) {
    const { journal } = memoryStore();
    this.journal = journal;
    const counted: Partial<Journal> = {
      watch: (run, wake) => {
        const stop = journal.watch(run, wake);
        this.watching += 1;
        return () => {
          this.watching -= 1;
          stop();
        };
      },
      ...change(journal),
    };
    this.runs = new Runs({
      journal: new Proxy(journal, { get: (_, name) => Reflect.get(counted, name) ?? bound(journal, name) }),
      model: async () => NO_MODEL,
      hand: async () => NO_HAND,
      live: this.live,
      redactor: { value: (value) => value, text: (text) => text, stream: never },
      now: Date.now,
      chance: () => 0,
      holder: thisHolder(),
      newId: (prefix) => `${prefix}_1`,
      newActionId: () => "act_1",
      report: () => undefined,
    });
  }

  async open(t: { after(done: () => Promise<void>): void }): Promise<this> {
    const made = await this.journal.create(
      { id: this.run, owner: "local", thread: "t" },
      [{ seq: 1, at: 1, event: STARTED }],
      thisHolder(),
    );
    this.#lease = made.lease;
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    t.after(async () => {
      this.#server.closeAllConnections();
      this.#server.close();
      await Promise.allSettled(this.ends);
    });
    return this;
  }

  /** Appends events; resolves when they are in the journal. */
  async grow(...events: readonly Event[]): Promise<void> {
    const entries = events.map((event, index): Entry => ({ seq: this.seq + index + 1, at: 1, event }));
    this.seq += events.length;
    await this.journal.append(this.#lease!, entries);
  }

  /** Appends so many notes of so many characters. */
  notes(count: number, chars = 10): Promise<void> {
    return this.grow(
      ...Array.from({ length: count }, (): Event => ({ type: "note.observed", note: "n".repeat(chars) })),
    );
  }

  finish(): Promise<void> {
    return this.grow({ type: "run.finished", result: "over" });
  }

  /** Connects and reads nothing yet. */
  connect(after = 0): Socket {
    const socket = connect((this.#server.address() as AddressInfo).port, "127.0.0.1").pause();
    socket.write(`GET /?after=${after} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    return socket;
  }

  /** Reads all lines from a cursor on. */
  async lines(after = 0): Promise<JsonObject[]> {
    const response = await fetch(this.url(after));
    return linesIn(new Uint8Array(await response.arrayBuffer()));
  }

  url(after = 0): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/?after=${after}`;
  }

  #show(url: URL, response: ServerResponse): void {
    this.responses.push(response);
    const encoder = JOURNAL_ENCODERS.ndjson.live;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const after = Number(url.searchParams.get("after"));
    const what = { runs: this.runs, run: this.run, after, signal: gone.signal, encoder, ...this.more };
    this.ends.push(streamRun(response, what).catch((thrown: unknown) => thrown));
  }
}

/** The lines of an NDJSON body. */
export function linesIn(bytes: Uint8Array): JsonObject[] {
  return ndjsonDecoder(8 * 1024 * 1024)
    .push(bytes)
    .map((item) => {
      if (!item.ok) throw new Error(item.fault.message);
      return item.value as JsonObject;
    });
}

function bound(journal: Journal, name: string | symbol): unknown {
  const found: unknown = Reflect.get(journal, name);
  return typeof found === "function" ? (found as () => unknown).bind(journal) : found;
}
