import { readFile } from "node:fs/promises";
import type { DaemonFile } from "@vidro/brain";
import { CLIENT_LIMITS, Fault } from "@vidro/core";
import { stateFolder } from "../program/home.ts";

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
export async function brainAddress(meant: Meant, env: NodeJS.ProcessEnv): Promise<Address | undefined> {
  const token = meant.token ?? named(env, "VIDRO_TOKEN");
  const retries = retriesIn(env);
  const patience = retries === undefined ? {} : { retries };
  const url = namedBrain(meant, env);
  if (url !== undefined) {
    const silence = await silenceOf(url);
    if (silence !== undefined) throw new Fault("BRAIN_UNREACHABLE", silence);
    return { url, ...(token === undefined ? {} : { token }), ...patience };
  }
  const daemon = await runningDaemon(meant, env);
  if (daemon === undefined) return undefined;
  return { url: daemon.url, token: token ?? (await tokenIn(daemon.tokenFile)), ...patience };
}

/** The address that a flag or the environment names. */
export function namedBrain(flags: BrainFlags, env: NodeJS.ProcessEnv): string | undefined {
  return flags.url ?? named(env, "VIDRO_URL");
}

async function runningDaemon({ workspace }: Meant, env: NodeJS.ProcessEnv): Promise<DaemonFile | undefined> {
  const home = stateFolder(env);
  if (home === undefined) return undefined;
  const { findDaemon } = await import("@vidro/brain");
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

function retriesIn(env: NodeJS.ProcessEnv): number | undefined {
  const given = named(env, "VIDRO_RETRIES");
  if (given === undefined) return undefined;
  if (!/^\d{1,3}$/.test(given)) throw new Fault("BAD_REQUEST", "VIDRO_RETRIES is a whole number from 0 to 999.");
  return Number(given);
}

function named(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}
