import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FILE_LIMITS } from "@vidro/core";
import type { Action, FetchImage, FilePart, Hand, ScanDocuments, ToolSpec } from "@vidro/core";
import type { TraceSpan } from "@vidro/core/trace";
import type { HomePolicy } from "@vidro/core/policy";
import type { FileEditor, RedialModule, Reloadable } from "@vidro/hands";
import manifest from "../../package.json" with { type: "json" };
import type { Log } from "../observe/log.ts";

/** Options of the hand in this process. */
export interface LocalOptions {
  /** The brain's own folder, which tools cannot access. */
  readonly home: string;
  readonly workspace: string;
  /** Holds the hand's reloadable policy while the hand is open. */
  readonly reloadables: Set<Reloadable>;
  readonly env: { readonly [name: string]: string | undefined };
  /** Is told of MCP servers that are left out. */
  readonly log: Log;
  /** The editor that has the workspace open, if one has. */
  readonly editor?: FileEditor | undefined;
  /** Takes the spans of its orders; absent without traces. */
  readonly span?: ((span: TraceSpan) => void) | undefined;
}

export type { FileEditor, Reloadable } from "@vidro/hands";

/** The name of the hand on the brain's own machine. */
export const LOCAL_HAND = "local";

// Loaded with the first hand: commands that only read the journal do not need it.
const load = () => import("@vidro/hands");

/** Opens the hand of this machine for a workspace. */
export async function openLocalHand(options: LocalOptions): Promise<Hand> {
  const { home, workspace, env, reloadables, log, span, editor } = options;
  const { openReloadablePolicy: keepPolicy, mountingHand, loadTraces } = await load();
  const { version } = manifest;
  const state = join(home, "hand");
  await mkdir(state, { recursive: true, mode: 0o700 });
  const policy = keepPolicy({ file: join(home, "policy.json"), workspace, state: home });
  const hand = await mountingHand(
    { id: LOCAL_HAND, workspace, state, reserved: home, policy, additions: policy.additions, env, editor },
    { file: join(home, "mcp.json"), version, note: (why) => log("mcp.unmounted", { why }) },
  );
  if (span !== undefined) (await loadTraces()).traceHand(hand, span);
  const reloadable = { what: "policy", reload: policy.reload };
  reloadables.add(reloadable);
  const allowAlways = hand.allowAlways?.bind(hand);
  if (allowAlways !== undefined)
    hand.allowAlways = async (action, approved) => {
      const added = await allowAlways(action, approved);
      // The hands of other workspaces have the same policy.
      if (typeof added === "string")
        for (const other of reloadables) if (other.what === reloadable.what) await other.reload();
      return added;
    };
  const close = hand.close.bind(hand);
  hand.close = async () => {
    reloadables.delete(reloadable);
    await close();
  };
  return hand;
}

/** The policy of this machine, whose hands read it again when it was changed. */
export async function openHomePolicy(options: {
  readonly home: string;
  readonly workspace: string;
  readonly hand: (workspace: string) => Promise<Hand>;
  readonly reloadables: ReadonlySet<Reloadable>;
}): Promise<HomePolicy> {
  const { home, workspace, hand, reloadables } = options;
  return (await load()).homePolicy({
    file: join(home, "policy.json"),
    workspace,
    state: home,
    judge: async (action: Action) => (await hand(workspace)).judge(action),
    async reload() {
      for (const one of reloadables) if (one.what === "policy") await one.reload();
    },
  });
}

/** The reconnection logic, shared by hands that dial a brain and a brain that dials hands. */
export async function loadRedial(): Promise<RedialModule> {
  return (await load()).loadConnectionKeeper();
}

/** Reads the documents of folders on this machine; nothing of Vidro's own state is among them. */
export function localDocuments(home: string): ScanDocuments {
  return async function* (folder, known, signal) {
    const { scanDocuments } = await (await load()).loadDocumentScan();
    yield* scanDocuments(folder, { known, home, signal });
  };
}

/** Fetches images from public addresses, and from private hosts that the policy of this machine names. */
export function localImages(home: string): FetchImage {
  const known = new Map<string, { readonly image: FilePart; readonly at: number }>();
  return async (address, signal) => {
    const found = known.get(address);
    if (found !== undefined && Date.now() - found.at < FILE_LIMITS.fetchedMs) return found.image;
    const { openPolicy, loadImageFetch } = await load();
    const { privateHosts = [] } = openPolicy({ file: join(home, "policy.json"), workspace: home, state: home });
    const image = await (await loadImageFetch()).fetchImage(address, { privateHosts, signal });
    known.delete(address);
    known.set(address, { image, at: Date.now() });
    const [oldest] = known.size > FILE_LIMITS.fetchedImages ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    return image;
  };
}

/** The tool specs of this version; used for hands that list tool names without schemas. */
export async function standardTools(): Promise<readonly ToolSpec[]> {
  const { TOOLS } = await load();
  return TOOLS.map(({ name, description, parameters, idempotent, effect }) => {
    return { name, description, parameters, idempotent, effect };
  });
}
