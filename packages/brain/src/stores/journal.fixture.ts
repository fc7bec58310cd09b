import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Entry, Event, FaultCode, Journal, Lease, LeaseHolder } from "@vidro/core";
import { Fault, RUN_LIMITS } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { sqliteStore } from "./sqlite.ts";
import type { SqliteOptions } from "./sqlite.ts";

/** The journal of the SQLite store at `path`; closing it closes the store. */
export async function sqliteJournalAt(path: string, options?: SqliteOptions): Promise<Journal> {
  return (await sqliteStore(path, options)).journal;
}

/** The first event of a run. */
export function startedEvent(task: string): Event {
  const { steps, actions, tokens, wallMs } = RUN_LIMITS;
  return {
    type: "run.started",
    task,
    system: "",
    agent: "tester",
    model: "none",
    hand: "none",
    workspace: "/",
    tools: [],
    budget: { steps, actions, tokens, wallMs },
    thread: "",
    history: [],
  };
}

/** An entry that tells its own place, or the event that is given. */
export function entry(seq: number, event: Event = { type: "note.observed", note: `note ${seq}` }): Entry {
  return { seq, at: 1000 + seq, event };
}

/** Entries `from` to `to`. */
export function entries(from: number, to: number): Entry[] {
  return Array.from({ length: to - from + 1 }, (_, index) => entry(from + index));
}

/** Makes a run of one entry that this process drives. */
export async function begin(journal: Journal, id: string): Promise<Lease> {
  const { lease } = await journal.create(
    { id, owner: "me", thread: "t" },
    [entry(1, startedEvent("do it"))],
    thisHolder(),
  );
  assert.ok(lease);
  return lease;
}

/** Settles when the work rejects with that fault. */
export async function rejects(work: Promise<unknown>, code: FaultCode): Promise<Fault> {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(thrown instanceof Fault, `${code} expected`);
  assert.equal(thrown.code, code, thrown.message);
  return thrown;
}

/** A folder that is removed when the scope ends. */
export function folder(): { readonly path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "vidro-store-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** How many commits a write-ahead log holds: the frame that ends one tells the size of the database. */
export function commitsIn(path: string): number {
  const [headerBytes, frameHeaderBytes, sizeOffset] = [32, 24, 4];
  const log = readFileSync(path);
  const pageBytes = log.readUInt32BE(8);
  let commits = 0;
  for (let at = headerBytes; at < log.length; at += frameHeaderBytes + pageBytes) {
    if (log.readUInt32BE(at + sizeOffset) !== 0) commits += 1;
  }
  return commits;
}

/** Another process that lives until it is ended. */
export interface Neighbour {
  readonly holder: LeaseHolder;
  readonly lines: AsyncIterator<string>;
  /** Writes a line to its standard input. */
  say(line: string): void;
  end(): Promise<void>;
}

/** The arguments that run a script beside this file on this Node. */
export function scriptArgs(script: string, args: readonly string[]): string[] {
  return ["--conditions=vidro-source", fileURLToPath(new URL(script, import.meta.url)), ...args];
}

/** Starts a script beside this file; its first line is the holder that it is, and killing it ends it. */
export async function neighbour(script: string, ...args: string[]): Promise<Neighbour> {
  const child = spawn(process.execPath, scriptArgs(script, args), { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const lines = linesOf(child.stdout.setEncoding("utf8"));
  const first = await lines.next();
  assert.equal(first.done, false, `${script} ended before it said who it is`);
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  const say = (line: string): void => void child.stdin.write(`${line}\n`);
  return { holder: JSON.parse(first.value), lines, say, end };
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
