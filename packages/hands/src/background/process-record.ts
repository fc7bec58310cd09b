import { createHash } from "node:crypto";
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, PROCESS_LIMITS } from "@vidro/core";
import type { LeaseHolder, ProcessPlan, ShellPlan } from "@vidro/core";
import type { EndReason, ProcessExit } from "../exec/process-end.ts";
import { makeOwnFolder } from "../files/own-files.ts";
import { isAlive } from "../host/process-identity.ts";

/*
 * Each process in the background has a folder in the hand's state: its record, its output, and the socket of its
 * keeper. The record is written by the keeper alone; a record without an end whose keeper is gone says that the end is
 * not known, and that nothing is left of the process.
 */

/** A plan that can work in the background. */
export type BackgroundPlan = ProcessPlan | ShellPlan;

/** How a process in the background ended. */
export interface ProcessEnd extends ProcessExit {
  readonly at: number;
  readonly why: EndReason;
}

/** What is on record about a process in the background. */
export interface ProcessRecord {
  /** The action that started it. */
  readonly action: string;
  readonly name: string;
  readonly run: string;
  /** Who ordered it, at a hand that serves several brains. */
  readonly by?: string;
  /** The plan that was carried out. */
  readonly plan: BackgroundPlan;
  readonly keep: boolean;
  readonly pid: number;
  /** The process that keeps it. */
  readonly keeper: LeaseHolder;
  readonly startedAt: number;
  readonly end?: ProcessEnd;
}

const FOLDER = "processes";
const RECORD = "process.json";

/** The folder of an action's process. */
export function processFolder(state: string, action: string): string {
  return join(state, FOLDER, createHash("sha256").update(action).digest("hex").slice(0, 32));
}

/** Makes the folder of an action's process. */
export function makeProcessFolder(state: string, action: string): string {
  makeOwnFolder(join(state, FOLDER));
  return makeOwnFolder(processFolder(state, action));
}

/** Replaces the record in a folder as a whole. */
export function writeRecord(folder: string, record: ProcessRecord): void {
  const fresh = join(folder, `${RECORD}.new`);
  writeFileSync(fresh, JSON.stringify(record), { mode: 0o600 });
  renameSync(fresh, join(folder, RECORD));
}

/** The record in a folder; undefined when there is none that can be read. */
export function readRecord(folder: string): ProcessRecord | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, RECORD), "utf8"));
    return isObject(value) && typeof value["action"] === "string" ? (value as unknown as ProcessRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Every process on record, the newest first. */
export function listRecords(state: string): readonly ProcessRecord[] {
  return foldersOf(state)
    .flatMap((folder) => readRecord(folder) ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
}

/** Whether a process runs: it has no end on record, and its keeper lives. */
export function isRunning({ end, keeper }: ProcessRecord): boolean {
  return end === undefined && isAlive(keeper);
}

/** Removes what is on record about processes that ended long ago, and the oldest of too many. */
export function pruneRecords(state: string, now: number): void {
  const ended = listRecords(state).filter((record) => !isRunning(record));
  const old = ended.filter(
    ({ end, startedAt }, at) => at >= PROCESS_LIMITS.ended || now - (end?.at ?? startedAt) > PROCESS_LIMITS.endedMs,
  );
  for (const { action } of old) {
    try {
      rmSync(processFolder(state, action), { recursive: true, force: true });
    } catch {
      // The next pruning tries again.
    }
  }
}

function foldersOf(state: string): readonly string[] {
  try {
    const all = join(state, FOLDER);
    return readdirSync(all).map((name) => join(all, name));
  } catch {
    return [];
  }
}
