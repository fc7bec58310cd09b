import { hostname } from "node:os";
import { resolve } from "node:path";
import { Fault, REGISTER_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import { parseInvitation } from "@vidro/core/wire/enrolment";
import manifest from "../../package.json" with { type: "json" };
import { HandStateFolder } from "../enrol/hand-state-folder.ts";
import type { HandIdentity } from "../enrol/hand-state-folder.ts";
import { readInvitation } from "../enrol/invitation.ts";
import type { InvitationFlags } from "../enrol/invitation.ts";
import { enrol } from "../enrol/join.ts";
import type { EnrolOptions } from "../enrol/join.ts";
import { readListenFlags } from "./listen-flags.ts";
import type { ListenFlags } from "./listen-flags.ts";
import { openReceiptSigner } from "../enrol/receipt-signer.ts";
import { surviveErrors } from "./uncaught-errors.ts";
import { printSignalNote, serveSignals } from "./signals.ts";
import type { Reloadable } from "./signals.ts";
import { openLogFile } from "./background.ts";
import { removeServing, writeServing } from "./serving-file.ts";
import { logNotes, printNote, printJson } from "./terminal.ts";

/** Flags of vidro-hand. */
interface HandFlags extends ListenFlags {
  /** The state folder. */
  readonly state: string;
  /** The workspace (default: the current folder, or the one it joined with). */
  readonly workspace?: string;
  /** Prints one line of JSON when the hand is ready. */
  readonly json?: boolean;
  /** File that its notes go to. */
  readonly log?: string;
}

/** Flags of `vidro-hand join`. */
interface HandJoinFlags extends HandFlags, InvitationFlags {
  readonly url: string;
  /** Name of this host (default: its hostname). */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** Transport to the brain: ws or http (default: ws). */
  readonly transport?: string;
  /** Works in the background, and returns when the brain has heard it. */
  readonly detach?: boolean;
}

/** The version of this program. */
export const VERSION = manifest.version;

const EXIT = { ok: 0, interrupted: 130 } as const;

/** Joins a brain, prints a line after its first heartbeat, and serves it until a signal ends the process. */
export async function joinBrain(flags: HandJoinFlags): Promise<number> {
  const { url, tags, name = hostname() } = flags;
  if (name === "" || name.length > REGISTER_LIMITS.nameChars)
    throw new Fault("BAD_REQUEST", `A name has 1 to ${REGISTER_LIMITS.nameChars} characters.`);
  const token = await readInvitation(flags);
  // Signals are handled before the brain is asked, because it may register the hand before its reply arrives.
  const reloadables = heedSignals();
  const state = await HandStateFolder.open(flags.state);
  const workspace = resolve(flags.workspace ?? ".");
  const before = await state.readIdentity();
  // The same line again uses nothing up: it starts the hand that it has made.
  const isNew = before === undefined || before.invitation !== parseInvitation(token).id;
  const who = { url, token, name, workspace, ...(tags === undefined ? {} : { tags }) };
  const identity = isNew ? await enrol({ ...who, ...(await keyStorage(state, flags.transport)) }) : before;
  if (isNew) await state.saveIdentity(identity);
  if (flags.detach === true) {
    const { startHandInBackground } = await import("./background-hand.ts");
    return startHandInBackground({ identity, state: state.folder, isNew });
  }
  return serveUntilStopped(state, flags, { firstDials: REGISTER_LIMITS.firstDials, reloadables });
}

/** Key storage for a host that signs its messages; empty for one with a certificate. */
async function keyStorage(state: HandStateFolder, transport = "ws"): Promise<Pick<EnrolOptions, "keepKey">> {
  if (transport === "ws") return {};
  if (transport !== "http") throw new Fault("BAD_REQUEST", "A hand comes over ws or http: --transport http");
  const { KeyRing } = await import("../links/agent-http/key-ring.ts");
  return { keepKey: (key) => KeyRing.create(state.keysFile, key) };
}

/** Serves the brain that was joined until a signal ends the process; waits for a brain that is down. */
export async function serveHand(flags: HandFlags): Promise<number> {
  const reloadables = heedSignals();
  return serveUntilStopped(await HandStateFolder.open(flags.state), flags, { firstDials: Infinity, reloadables });
}

/** A JSON line with the public key of this host's receipts and its hand id, if it has joined a brain. */
export async function keyLine(folder: string): Promise<string> {
  const state = await HandStateFolder.open(folder);
  const identity = await state.readIdentity();
  const hand = identity === undefined ? {} : { hand: identity.agentId };
  return `${JSON.stringify({ ...hand, key: openReceiptSigner(state.folder).key })}\n`;
}

/** Has a person sign in at an MCP server of this host; the link to open is printed. */
export async function signInAt(
  server: string,
  places: { readonly file: string; readonly state: string },
): Promise<number> {
  const { signInToServer } = await import("../mcp/server-sign-in.ts");
  const open = (link: string): void => printNote(`Open this link to sign in at ${server}:\n${link}`);
  await signInToServer({ server, ...places, open });
  printNote(`Signed in at ${server}. A hand that is at work mounts it when it is started again.`);
  return EXIT.ok;
}

/** Handles the signals that do not end a hand; returns the list of settings that SIGHUP reloads. */
function heedSignals(): Reloadable[] {
  const reloadables: Reloadable[] = [];
  serveSignals(() => reloadables, printSignalNote);
  return reloadables;
}

interface ServeSettings {
  readonly firstDials: number;
  readonly reloadables: Reloadable[];
}

async function serveUntilStopped(
  state: HandStateFolder,
  flags: HandFlags,
  { firstDials, reloadables }: ServeSettings,
): Promise<number> {
  surviveErrors();
  if (flags.log !== undefined) logNotes(openLogFile(flags.log));
  const stop = new AbortController();
  let code: number = EXIT.ok;
  const end = (name: NodeJS.Signals): void => {
    // The second signal ends the process at once; the ledger has what was done.
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    if (name === "SIGINT") code = EXIT.interrupted;
    stop.abort();
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  const { workspace } = flags;
  const listen = await readListenFlags(flags);
  let isReady = false;
  const hand = (await state.readIdentity())?.agentId ?? "";
  writeServing(state.folder, hand, false);
  const { serveJoinedHand } = await import("./serve.ts");
  await serveJoinedHand({
    state,
    version: VERSION,
    signal: stop.signal,
    firstDials,
    keep: (reloadable) => void reloadables.push(reloadable),
    ...(listen === undefined ? {} : { listen }),
    ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
    up(identity) {
      writeServing(state.folder, hand, true);
      printConnected(identity, { json: flags.json === true, isFirst: !isReady });
      isReady = true;
    },
    note: printNote,
    down(why, restMs) {
      writeServing(state.folder, hand, false);
      printNote(`${oneLine(why.message, WHY_CHARS)} Next try in ${Math.ceil(restMs / 1000)} s.`);
    },
  }).finally(() => removeServing(state.folder));
  return code;
}

const WHY_CHARS = 400;

function printConnected(
  { agentId, name, url }: HandIdentity,
  { json, isFirst }: { json: boolean; isFirst: boolean },
): void {
  if (json && isFirst) printJson({ ready: true, agent_id: agentId });
  if (json) return;
  printNote(`✓ ${oneLine(name, REGISTER_LIMITS.nameChars)} connected`);
  if (isFirst) printNote(`  to ${url} as ${agentId}. Ctrl-C ends it; as a service: vidro-hand unit --dry-run`);
}
