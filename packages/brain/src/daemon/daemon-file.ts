import { readFileSync } from "node:fs";
import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json, JsonObject, LeaseHolder } from "@vidro/core";
import { mayLive, thisHolder } from "../stores/lease-holder.ts";

/** Content of `daemon.json`: where the daemon of a home is. */
export interface DaemonFile {
  readonly pid: number;
  readonly url: string;
  readonly tokenFile: string;
  /** The folder that its local hand works in. */
  readonly workspace: string;
  readonly startedAt: number;
  /** The flags that it was started with, for its next start; none when it was started by code. */
  readonly args: readonly string[];
  /** The file that it logs to; without one it logs to its terminal or its service. */
  readonly log?: string;
  /** What its setting `model` was when it started. */
  readonly model?: string;
}

/** Path of the file with a daemon's first token. */
export function tokenFile(home: string): string {
  return join(home, "token");
}

/** The daemon of a home, if its process lives on this host. */
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

/** The process of a daemon, and whether it still lives. */
interface DaemonProcess {
  readonly pid: number;
  readonly lives: () => boolean;
}

/** The process that is the daemon of a home or is about to be, if it lives on this host. */
export async function findDaemonProcess(home: string): Promise<DaemonProcess | undefined> {
  const said = await readFile(place(home), "utf8")
    .then(parseJson)
    .catch(() => undefined);
  if (!isObject(said) || typeof said["pid"] !== "number") return undefined;
  const { pid, holder } = said;
  return livesHere(holder) ? { pid, lives: () => livesHere(holder) } : undefined;
}

/** What `daemon.json` says; empty when its writer has certainly died. */
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

/** Writes this process to `daemon.json` before it has an address, in place of the daemon before it. */
export async function claimDaemonFile(home: string): Promise<void> {
  await writePrivate(place(home), `${JSON.stringify({ pid: process.pid, holder: thisHolder() })}\n`);
}

/** Writes the address of this process's daemon to `daemon.json`. */
export async function writeDaemonFile(home: string, daemon: Omit<DaemonFile, "pid">): Promise<void> {
  const { url, tokenFile: tokens, workspace, startedAt, args, log, model } = daemon;
  const said = {
    pid: process.pid,
    url,
    token_file: tokens,
    workspace,
    started_at: startedAt,
    args,
    ...(log === undefined ? {} : { log }),
    ...(model === undefined ? {} : { model }),
    holder: thisHolder(),
  };
  await writePrivate(place(home), `${JSON.stringify(said)}\n`);
}

/** Removes `daemon.json`; only for the process that holds the lock of the home. */
export async function removeDaemonFile(home: string): Promise<void> {
  await rm(place(home), { force: true });
}

/** Whether a process lives on this host; a pid of another host or boot names no process here. */
function livesHere(said: Json | undefined): boolean {
  if (!isObject(said)) return false;
  const holder = said as unknown as LeaseHolder;
  const here = thisHolder();
  return holder.host === here.host && holder.boot === here.boot && mayLive(holder);
}

function daemonOf(said: JsonObject): DaemonFile | undefined {
  const { pid, url, token_file: tokens, workspace, started_at: startedAt, args, log, model } = said;
  if (typeof pid !== "number" || typeof url !== "string" || typeof tokens !== "string") return undefined;
  if (typeof workspace !== "string") return undefined;
  return {
    pid,
    url,
    tokenFile: tokens,
    workspace,
    startedAt: typeof startedAt === "number" ? startedAt : 0,
    args: Array.isArray(args) ? args.filter((word) => typeof word === "string") : [],
    ...(typeof log === "string" ? { log } : {}),
    ...(typeof model === "string" ? { model } : {}),
  };
}

/** Writes a file atomically and readable by its owner only, also in place of one with wider permissions. */
async function writePrivate(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`;
  await writeFile(fresh, text, { mode: 0o600 });
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}

function place(home: string): string {
  return join(home, "daemon.json");
}
