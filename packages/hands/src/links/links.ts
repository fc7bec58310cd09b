import type { Fault, Hand } from "@vidro/core";
import type { HandStateFolder, HandIdentity } from "../enrol/hand-state-folder.ts";
import type { ListenAddress } from "../program/listen-flags.ts";
import type { Sampler } from "../host/sampler.ts";

/** The hand that a link serves, and callbacks for its state. */
export interface LinkContext {
  readonly hand: Hand;
  readonly state: HandStateFolder;
  readonly sampler: Sampler;
  readonly version: string;
  /** Ends the link. */
  readonly signal: AbortSignal;
  /** Attempts at the first connection. */
  readonly firstDials: number;
  readonly up: (identity: HandIdentity) => void;
  readonly down: (why: Fault, restMs: number) => void;
  /** Where the host listens for its brain, on links that support it. */
  readonly listen?: ListenAddress;
  /** Receives notes for a person at the host. */
  readonly note: (text: string) => void;
}

/** A kind of link to a brain. */
export interface LinkKind {
  readonly name: string;
  /** Whether this host was enrolled for this kind. */
  readonly isFor: (identity: HandIdentity) => boolean;
  /** Keeps the link up until its signal fires; rejects with a fault that retrying cannot cure. */
  readonly keep: (context: LinkContext) => Promise<void>;
}

const agentWs: LinkKind = {
  name: "agent-ws",
  isFor: ({ url }) => url.startsWith("wss:"),
  async keep({ sampler, firstDials, ...context }) {
    const { keepAgentWs } = await import("./agent-ws.ts");
    await keepAgentWs({ ...context, sample: () => sample(sampler), bounds: { firstDials } });
  },
};

const agentHttp: LinkKind = {
  name: "agent-http",
  isFor: ({ url }) => url.startsWith("https:"),
  async keep({ sampler, firstDials, ...context }) {
    const { keepAgentHttp } = await import("./agent-http.ts");
    await keepAgentHttp({ ...context, sample: () => sample(sampler), bounds: { firstDials } });
  },
};

function sample(sampler: Sampler): { readonly [name: string]: number } | undefined {
  const latest = sampler.latest();
  return latest === undefined ? undefined : { ...latest };
}

/** The links that a hand dials by itself; each is a file and an entry here. */
export const LINKS: readonly LinkKind[] = [agentWs, agentHttp];
