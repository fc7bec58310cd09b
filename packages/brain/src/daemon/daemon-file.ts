import { readFileSync } from "node:fs";
import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json, JsonObject, LeaseHolder } from "@vidro/core";
import { mayLive, thisHolder } from "../stores/lease-holder.ts";

/** Where a daemon is, as it says so itself in the folder of its state. */
export interface DaemonFile {
  readonly pid: number;
  readonly url: string;
  readonly tokenFile: string;
  /** The folder that its local hand works in. */
  readonly workspace: string;
  readonly startedAt: number;
}

/** The file in which a daemon's first token lies. */
export function tokenFile(home: string): string {
  return join(home, "token");
}

/** The daemon of a home, as long as its process lives on this host. */
export async function findDaemon(home: string): Promise<DaemonFile | undefined> {
  const text = await readFile(place(home), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const said = parseJson(text);
    return isObject(said) && livesHere(said["holder"]) ? daemonOf(said) : undefined;
  } catch {
    return undefined;
  }
}

/** What the file says of the daemon of a home; nothing when it is certain that its writer has died. */
export function readDaemonFile(home: string): { readonly pid?: number; readonly host?: string; readonly url?: string } {
  try {
    const said = parseJson(readFileSync(place(home), "utf8"));
    if (!isObject(said) || !isObject(said["holder"])) return {};
    const holder = said["holder"] as unknown as LeaseHolder;
    if (!mayLive(holder)) return {};
    const { url } = said;
    return { pid: holder.pid, host: holder.host, ...(typeof url === "string" ? { url } : {}) };
  } catch {
    return {};
  }
}

/** Says which process is to be the daemon, before it has an address: the file of the one before it means nothing now. */
export async function claimDaemonFile(home: string): Promise<void> {
  await writePrivate(place(home), `${JSON.stringify({ pid: process.pid, holder: thisHolder() })}\n`);
}

/** Says where the daemon of this process is. */
export async function writeDaemonFile(home: string, daemon: Omit<DaemonFile, "pid">): Promise<void> {
  const { url, tokenFile: tokens, workspace, startedAt } = daemon;
  const said = { pid: process.pid, url, token_file: tokens, workspace, started_at: startedAt, holder: thisHolder() };
  await writePrivate(place(home), `${JSON.stringify(said)}\n`);
}

/** Takes back what this process said; only for the process that holds the lock of the home. */
export async function removeDaemonFile(home: string): Promise<void> {
  await rm(place(home), { force: true });
}

/** A pid of another host or boot means nothing here: whoever wrote it is not the daemon of this host. */
function livesHere(said: Json | undefined): boolean {
  if (!isObject(said)) return false;
  const holder = said as unknown as LeaseHolder;
  const here = thisHolder();
  return holder.host === here.host && holder.boot === here.boot && mayLive(holder);
}

function daemonOf(said: JsonObject): DaemonFile | undefined {
  const { pid, url, token_file: tokens, workspace, started_at: startedAt } = said;
  if (typeof pid !== "number" || typeof url !== "string" || typeof tokens !== "string") return undefined;
  if (typeof workspace !== "string") return undefined;
  return { pid, url, tokenFile: tokens, workspace, startedAt: typeof startedAt === "number" ? startedAt : 0 };
}

/** Never half written, and never readable by others, also where a file with wider rights lay before. */
async function writePrivate(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`;
  await writeFile(fresh, text, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}

function place(home: string): string {
  return join(home, "daemon.json");
}
