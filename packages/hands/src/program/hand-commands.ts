import { hostname } from "node:os";
import { resolve } from "node:path";
import { Fault, REGISTER_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
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
import { serveJoinedHand } from "./serve.ts";
import { surviveErrors } from "./uncaught-errors.ts";
import { printSignalNote, serveSignals } from "./signals.ts";
import type { Reloadable } from "./signals.ts";
import { printNote, printJson } from "./terminal.ts";

/** What a hand's program may be told. */
interface HandFlags extends ListenFlags {
  /** The folder of its state. */
  readonly state: string;
  /** The folder that it works in (default: this one, or the one it joined with). */
  readonly workspace?: string;
  /** One line of JSON when it is ready. */
  readonly json?: boolean;
}

/** What joining may be told. */
interface HandJoinFlags extends HandFlags, InvitationFlags {
  readonly url: string;
  /** What to call this host (default: its own name). */
  readonly name?: string;
  readonly tags?: readonly string[];
  /** How to come to the brain (default: ws). */
  readonly transport?: string;
}

/** The version of this program. */
export const VERSION = manifest.version;

const EXIT = { ok: 0, interrupted: 130 } as const;

/** Joins a brain, says so when its first heartbeat came, and works for it until it is asked to end. */
export async function joinBrain(flags: HandJoinFlags): Promise<number> {
  const { url, tags, name = hostname() } = flags;
  if (name === "" || name.length > REGISTER_LIMITS.nameChars)
    throw new Fault("BAD_REQUEST", `A name has 1 to ${REGISTER_LIMITS.nameChars} characters.`);
  const token = await readInvitation(flags);
  // Before the brain is asked: it may take the host for a hand before the host has heard of it.
  const reloadables = heedSignals();
  const state = await HandStateFolder.open(flags.state);
  const workspace = resolve(flags.workspace ?? ".");
  const who = { url, token, name, workspace, ...(tags === undefined ? {} : { tags }) };
  await state.saveIdentity(await enrol({ ...who, ...(await keyStorage(state, flags.transport)) }));
  return serveUntilStopped(state, flags, { firstDials: REGISTER_LIMITS.firstDials, reloadables });
}

/** What keeps the key of a host that is to sign its messages. */
async function keyStorage(state: HandStateFolder, transport = "ws"): Promise<Pick<EnrolOptions, "keepKey">> {
  if (transport === "ws") return {};
  if (transport !== "http") throw new Fault("BAD_REQUEST", "A hand comes over ws or http: --transport http");
  const { KeyRing } = await import("../links/agent-http/key-ring.ts");
  return { keepKey: (key) => KeyRing.create(state.keysFile, key) };
}

/** Works for the brain that was joined, until it is asked to end; a brain that is away is waited for. */
export async function serveHand(flags: HandFlags): Promise<number> {
  const reloadables = heedSignals();
  return serveUntilStopped(await HandStateFolder.open(flags.state), flags, { firstDials: Infinity, reloadables });
}

/** The public key of the receipts that this host signs, with its id at the brain that it joined, as a line of JSON. */
export async function keyLine(folder: string): Promise<string> {
  const state = await HandStateFolder.open(folder);
  const identity = await state.readIdentity();
  const hand = identity === undefined ? {} : { hand: identity.agentId };
  return `${JSON.stringify({ ...hand, key: openReceiptSigner(state.folder).key })}\n`;
}

/** Heeds the signals that end no hand; gives the list of what SIGHUP reads anew. */
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
  const stop = new AbortController();
  let code: number = EXIT.ok;
  const end = (name: NodeJS.Signals): void => {
    // The second one does not ask: what is done is in the ledger.
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    if (name === "SIGINT") code = EXIT.interrupted;
    stop.abort();
  };
  process.on("SIGINT", end).on("SIGTERM", end);
  const { workspace } = flags;
  const listen = await readListenFlags(flags);
  let isReady = false;
  await serveJoinedHand({
    state,
    version: VERSION,
    signal: stop.signal,
    firstDials,
    keep: (reloadable) => void reloadables.push(reloadable),
    ...(listen === undefined ? {} : { listen }),
    ...(workspace === undefined ? {} : { workspace: resolve(workspace) }),
    up(identity) {
      printConnected(identity, { json: flags.json === true, isFirst: !isReady });
      isReady = true;
    },
    note: printNote,
    down: (why, restMs) => printNote(`${oneLine(why.message, WHY_CHARS)} Next try in ${Math.ceil(restMs / 1000)} s.`),
  });
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
