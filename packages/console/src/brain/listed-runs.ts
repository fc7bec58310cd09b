import { CONSOLE_LIMITS } from "@vidro/core";
import type { RunHead, SpendingRow } from "@vidro/core";
import { request, vidro } from "./connection.ts";

/** A run in a list, with what it was started with and what models used for it where the list tells that. */
export interface ListedRun extends RunHead {
  readonly agent?: string;
  readonly model?: string;
  /** Ids of its hands, separated by commas. */
  readonly hand?: string;
  /** The run and the entry that it was forked from. */
  readonly forked?: { readonly run: string; readonly seq: number };
  /** The sums of its thread, which are its own where `runs` is 1. */
  readonly spent?: SpendingRow;
}

/** The runs that are open and what they were started with, newest first. */
export function readOpenRuns(): Promise<readonly ListedRun[]> {
  return readListed(`open=true&limit=${CONSOLE_LIMITS.openRuns}`);
}

/** The last runs with what they were started with and what models used for them, newest first. */
export async function readRuns(): Promise<readonly ListedRun[]> {
  const runs = await readListed(`limit=${CONSOLE_LIMITS.runs}`);
  if (runs.length === 0) return runs;
  const since = Math.min(...runs.map(({ startedAt }) => startedAt));
  const sums = new Map((await vidro.usage("thread", { since })).map((row) => [`${row.owner} ${row.key}`, row]));
  return runs.map((run) => {
    const spent = sums.get(`${run.owner} ${run.thread}`);
    return spent === undefined ? run : { ...run, spent };
  });
}

/** Runs that a query asks for, with what they were started with, newest first. */
export async function readListed(query: string): Promise<readonly ListedRun[]> {
  const { runs } = await request("GET", `/v1/runs?facts=true&${query}`);
  return Array.isArray(runs) ? runs : [];
}
