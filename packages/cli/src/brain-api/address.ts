import { readFile } from "node:fs/promises";
import type { DaemonFile } from "@vidro/brain";
import { CLIENT_LIMITS, Fault } from "@vidro/core";
import { stateFolder } from "@vidro/hands/config";
import { commandConfig } from "../program/settings.ts";

/** Which brain is meant, as the flags say. */
export interface BrainFlags {
  readonly url?: string;
  readonly token?: string;
}

/** Which brain is meant, and the folder to work in when there is something to be done. */
export interface Meant extends BrainFlags {
  readonly workspace?: string;
}

/** Where a brain listens and how to show who asks. */
export interface Address {
  readonly url: string;
  readonly token?: string;
  /** How often a lost connection is tried again. */
  readonly retries?: number;
}

/**
 * The brain that a flag or the environment names, which must be there (BRAIN_UNREACHABLE); else the daemon that runs
 * in this user's home, unless it works in another folder than the one that is meant; none when the command has to be
 * its own brain.
 */
export async function brainAddress(meant: Meant): Promise<Address | undefined> {
  const config = commandConfig({ url: meant.url, token: meant.token });
  const [url, token, retries] = [config.get("url"), config.get("token"), config.get("retries")];
  if (url !== undefined) {
    const silence = await silenceOf(url);
    if (silence !== undefined) throw new Fault("BRAIN_UNREACHABLE", silence);
    return { url, ...(token === undefined ? {} : { token }), retries };
  }
  const daemon = await runningDaemon(meant);
  if (daemon === undefined) return undefined;
  return { url: daemon.url, token: token ?? (await tokenIn(daemon.tokenFile)), retries };
}

async function runningDaemon({ workspace }: Meant): Promise<DaemonFile | undefined> {
  const home = stateFolder();
  if (home === undefined) return undefined;
  const { findDaemon } = await import("@vidro/brain/daemon-file");
  const daemon = await findDaemon(home);
  if (daemon === undefined || (workspace !== undefined && workspace !== daemon.workspace)) return undefined;
  return (await silenceOf(daemon.url)) === undefined ? daemon : undefined;
}

/** Why nothing is heard from a brain; nothing when it answers. */
async function silenceOf(url: string): Promise<string | undefined> {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : new URL("none:");
  // What may hold a password is not said back.
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "")
    throw new Fault("BAD_REQUEST", "That is no address of a brain: one looks like http://127.0.0.1:3120.");
  try {
    const base = url.endsWith("/") ? url : `${url}/`;
    const answer = await fetch(new URL("healthz", base), { signal: AbortSignal.timeout(CLIENT_LIMITS.probeMs) });
    await answer.body?.cancel();
    return answer.ok ? undefined : `${url} answers ${answer.status} when it is asked for its health.`;
  } catch (thrown) {
    const { message, cause } = thrown as Error;
    const why = cause instanceof Error && cause.message !== "" ? cause.message : message;
    return `Nothing answers at ${url}: ${why}`;
  }
}

async function tokenIn(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (cause) {
    throw new Fault("AUTH_REQUIRED", `The daemon's token cannot be read: ${(cause as Error).message}`, { cause });
  }
}
