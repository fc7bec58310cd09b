import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { BACKGROUND_LIMITS, Fault, FAULTS, REGISTER_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import { parseInvitation } from "@vidro/core/wire/enrolment";
import { handStateFolder, takeInvitation } from "../config.ts";
import { HandStateFolder } from "../enrol/hand-state-folder.ts";
import type { HandIdentity } from "../enrol/hand-state-folder.ts";
import { HAND_LAUNCHER, readLastLines, startDetached, waitUntil } from "./background.ts";
import { readServing } from "./serving-file.ts";
import { findSupervisor, rebootWords, startService, stopService } from "./supervisor.ts";
import type { Supervisor } from "./supervisor.ts";
import { printNote } from "./terminal.ts";
import { SERVICE_STATE } from "./unit.ts";

/* Hands that work in the background: started by a line that returns when the brain has heard them. */

/** The log file of a hand that works in the background without systemd. */
const LOG = "hand.log";

/** The state folder of a hand that is to work in the background on this host. */
export function backgroundState(): string | undefined {
  return findSupervisor() === "system" ? SERVICE_STATE : handStateFolder();
}

/** How a hand is started in the background. */
interface BackgroundStart {
  readonly identity: HandIdentity;
  readonly state: string;
  /** The identity is new, so that a process with the one before has to end first. */
  readonly isNew: boolean;
  /** What keeps it running; default: what this host has. */
  readonly supervisor?: Supervisor;
}

/** Starts a joined hand in the background, unless it runs, and waits until its brain has heard it; gives the exit code. */
export async function startHandInBackground(start: BackgroundStart): Promise<number> {
  const { identity, state, isNew } = start;
  const { workspace } = identity;
  const running = readServing(state);
  if (running !== undefined && !isNew) {
    const words = [`  It was running, as process ${running.holder.pid}; nothing was started.`];
    return waitForHeartbeat({ identity, state, words });
  }
  if (running !== undefined) await endProcess(state, running.holder.pid);
  const supervisor = start.supervisor ?? findSupervisor();
  // The service of the system has its state in one place; a hand with another state is a process of its own.
  const isService = supervisor === "user" || (supervisor === "system" && state === SERVICE_STATE);
  if (isService) return waitForHeartbeat({ identity, state, words: startService(supervisor, { state, workspace }) });
  const log = join(state, LOG);
  const from = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const argv = [HAND_LAUNCHER, "serve", "--state", state, "--log", log];
  const child = startDetached({ argv, cwd: workspace, log });
  const words = supervisor === "none" ? rebootWords(state) : [];
  return waitForHeartbeat({ identity, state, words, started: { child, log, from } });
}

interface Heartbeat {
  readonly identity: HandIdentity;
  readonly state: string;
  /** Told when it is connected. */
  readonly words: readonly string[];
  /** The process that was started, and where its log begins. */
  readonly started?: { readonly child: ChildProcess; readonly log: string; readonly from: number };
}

async function waitForHeartbeat({ identity, state, words, started }: Heartbeat): Promise<number> {
  const { agentId, url } = identity;
  const name = oneLine(identity.name, REGISTER_LIMITS.nameChars);
  let isGone = false;
  if (started !== undefined) {
    started.child.once("error", () => (isGone = true));
    void once(started.child, "exit").then(() => (isGone = true));
  }
  const isHeard = (): boolean => {
    const serving = readServing(state);
    return serving?.connected === true && serving.agentId === agentId;
  };
  await waitUntil(() => isGone || isHeard(), BACKGROUND_LIMITS.connectedMs);
  if (!isGone && isHeard()) {
    printNote(`✓ ${name} connected`);
    printNote(`  to ${url} as ${agentId}.`);
    for (const line of words) printNote(line);
    return 0;
  }
  const last = started === undefined ? [] : readLastLines(started.log, BACKGROUND_LIMITS.shownLines, started);
  for (const line of last) printNote(line);
  if (isGone) {
    printNote(`vidro-hand: ${name} ended before its brain had heard it.`);
    return started?.child.exitCode || 1;
  }
  const seconds = BACKGROUND_LIMITS.connectedMs / 1000;
  printNote(
    `vidro-hand: ${name} runs, but the brain at ${url} has not answered it in ${seconds} s. It goes on trying.`,
  );
  return FAULTS.BRAIN_UNREACHABLE.exit;
}

/** Ends the process that serves with a state folder and waits until it is gone. */
async function endProcess(state: string, pid: number): Promise<void> {
  process.kill(pid, "SIGTERM");
  if (await waitUntil(() => readServing(state)?.holder.pid !== pid, BACKGROUND_LIMITS.endedMs)) return;
  throw new Fault("CONFLICT", `Process ${pid} serves with ${state} and does not end: kill -9 ${pid}`);
}

/** Starts the hand that this host has joined with, in the background. */
export async function serveInBackground(state: string): Promise<number> {
  const identity = await (await HandStateFolder.open(state)).readIdentity();
  if (identity === undefined)
    throw new Fault("NOT_FOUND", `No brain was joined with the state in ${state}: vidro-hand join`);
  // systemd starts its own services; this is for hosts without it.
  return startHandInBackground({ identity, state, isNew: false, supervisor: "none" });
}

/**
 * Starts the hand that the invitation in the environment has joined with; NOT_FOUND's exit code, without a word, when
 * this host has joined with no such invitation.
 */
export async function rejoin(state: string | undefined): Promise<number> {
  const token = takeInvitation();
  const { id } = parseInvitation(token ?? "");
  for (const folder of state === undefined ? [backgroundState(), handStateFolder()] : [state]) {
    const identity = folder === undefined ? undefined : await joinedWith(folder, id);
    if (folder === undefined || identity === undefined) continue;
    printNote(`This host has joined with this invitation already; nothing of it is used.`);
    return startHandInBackground({ identity, state: folder, isNew: false });
  }
  return FAULTS.NOT_FOUND.exit;
}

/** The identity in a state folder, when this invitation has made it. */
async function joinedWith(folder: string, invitation: string): Promise<HandIdentity | undefined> {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return undefined;
  const identity = await (await HandStateFolder.open(folder)).readIdentity();
  return identity?.invitation === invitation ? identity : undefined;
}

/** Ends the hand that works in the background, and its service; NOT_FOUND when there is none. */
export async function stopBackgroundHand(state: string): Promise<number> {
  const isService = stopService(state);
  const running = readServing(state);
  if (running === undefined && !isService) throw new Fault("NOT_FOUND", `No hand serves with the state in ${state}.`);
  if (running !== undefined) await endProcess(state, running.holder.pid);
  printNote("The hand has ended. Its identity is kept: vidro-hand serve --detach starts it again.");
  return 0;
}
