import { Fault } from "@vidro/core";
import type { GatewayName, Hand, JsonObject } from "@vidro/core";
import type { HandStateFolder, HandIdentity } from "../enrol/hand-state-folder.ts";
import type { ListenAddress } from "../program/listen-flags.ts";

/** The hand that a link to a joined brain serves, and callbacks for the state of the link. */
export interface LinkContext {
  readonly hand: Hand;
  readonly state: HandStateFolder;
  /** The load of the host. */
  readonly sample: () => JsonObject | undefined;
  readonly version: string;
  /** Ends the link. */
  readonly signal: AbortSignal;
  readonly bounds: {
    /** Attempts at the first connection. */
    readonly firstDials: number;
  };
  readonly up: (identity: HandIdentity) => void;
  readonly down: (why: Fault, restMs: number) => void;
  /** Where the host listens for its brain, on links that support it. */
  readonly listen?: ListenAddress;
  /** Receives notes for a person at the host. */
  readonly note: (text: string) => void;
}

/** Keeps the link up until its signal fires; rejects with a fault that retrying cannot cure. */
type KeepLink = (context: LinkContext) => Promise<void>;

/** A link to the brain that a host has joined. */
interface JoinedLink {
  /** Protocol of the address in the identity of a host that joined over this link. */
  readonly scheme: `${string}:`;
  readonly load: () => Promise<KeepLink>;
}

/** A link whose caller brings its own address and credentials. */
interface StandaloneLink {
  readonly load: () => Promise<object>;
}

/** The hand's end of every wire, by the name of the wire; a new link is a file and a line here. Loaded on first use. */
export const LINKS = {
  "agent-ws": { scheme: "wss:", load: async () => (await import("./agent-ws.ts")).keepAgentWs },
  "agent-http": { scheme: "https:", load: async () => (await import("./agent-http.ts")).keepAgentHttp },
  "agent-tcp": { load: () => import("./agent-tcp.ts") },
  "executor-ws": { load: () => import("./executor-ws.ts") },
} as const satisfies Record<Exclude<GatewayName, "local">, JoinedLink | StandaloneLink>;

/** Loads the link over which a host with this identity joined its brain. */
export async function loadJoinedLink({ url }: Pick<HandIdentity, "url">): Promise<KeepLink> {
  const links: readonly (JoinedLink | StandaloneLink)[] = Object.values(LINKS);
  const link = links.find((one): one is JoinedLink => "scheme" in one && url.startsWith(one.scheme));
  if (link === undefined)
    throw new Fault("STORE_UNREADABLE", `The identity of this host has an address of no link, ${url}: join again.`);
  return link.load();
}
