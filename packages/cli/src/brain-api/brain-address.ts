import { readFile } from "node:fs/promises";
import type { DaemonFile } from "@vidro/brain/daemon-file";
import { CLIENT_LIMITS, Fault } from "@vidro/core";
import { stateFolder } from "@vidro/hands/config";
import { say } from "../program/output.ts";
import { commandConfig } from "../program/settings.ts";

const { noticeMs: NOTICE_MS } = CLIENT_LIMITS;

/** The flags that choose a brain. */
export interface BrainFlags {
  readonly url?: string;
  readonly token?: string;
}

/** Where a brain listens, and the token to send. */
export interface BrainAddress {
  readonly url: string;
  readonly token?: string;
  /** How often a lost connection is tried again. */
  readonly retries?: number;
  /** The folder that the daemon of this home works in unless a run names another; absent for brains that are named. */
  readonly folder?: string;
  /** The setting `model` of this command, when the daemon of this home was started with another. */
  readonly unusedModel?: string;
}

/**
 * The brain that the setting `url` names, which must answer (BRAIN_UNREACHABLE); else the running daemon of this home;
 * undefined when the command has to open a brain itself.
 */
export async function findBrainAddress(target: BrainFlags): Promise<BrainAddress | undefined> {
  const config = commandConfig({ url: target.url, token: target.token });
  const [url, token, retries] = [config.get("url"), config.get("token"), config.get("retries")];
  if (url !== undefined) {
    const silence = await silenceOf(url);
    if (silence !== undefined) throw new Fault("BRAIN_UNREACHABLE", silence);
    return { url, ...(token === undefined ? {} : { token }), retries };
  }
  const daemon = await runningDaemon();
  if (daemon === undefined) return undefined;
  const model = config.get("model");
  return {
    url: daemon.url,
    token: token ?? (await tokenIn(daemon.tokenFile)),
    retries,
    folder: daemon.workspace,
    ...(model === undefined || model === daemon.model ? {} : { unusedModel: model }),
  };
}

async function runningDaemon(): Promise<DaemonFile | undefined> {
  const home = stateFolder();
  if (home === undefined) return undefined;
  const { findDaemon } = await import("@vidro/brain/daemon-file");
  const daemon = await findDaemon(home);
  if (daemon === undefined) return undefined;
  const told = setTimeout(() => say(`The daemon, process ${daemon.pid}, does not answer yet; waiting.`), NOTICE_MS);
  const silence = await silenceOf(daemon.url).finally(() => clearTimeout(told));
  if (silence === undefined) return daemon;
  // A process that was stopped or is busy keeps its port; commands work beside it, and say so.
  say(`The daemon, process ${daemon.pid}, is there but does not answer, and is left out: vidro stop --now ends it.`);
  return undefined;
}

/** Why a brain cannot be used; undefined when it answers. */
export async function silenceOf(url: string, waitMs: number = CLIENT_LIMITS.probeMs): Promise<string | undefined> {
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : new URL("none:");
  // The address is not repeated in the fault: it may hold a password.
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "")
    throw new Fault("BAD_REQUEST", "That is no address of a brain: one looks like http://127.0.0.1:3120.");
  try {
    const base = url.endsWith("/") ? url : `${url}/`;
    const answer = await fetch(new URL("healthz", base), { signal: AbortSignal.timeout(waitMs) });
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
