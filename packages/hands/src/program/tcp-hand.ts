import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Hand } from "@vidro/core";
import type { AgentTcp, AgentTcpOptions } from "../links/agent-tcp.ts";
import { LINKS } from "../links/links.ts";
import { Sampler } from "../host/sampler.ts";
import { Watches } from "../host/watches.ts";

/** A hand, its state folder, and the settings of its server. */
export interface TcpHandOptions extends Omit<AgentTcpOptions, "hand" | "name" | "sampler" | "watches"> {
  readonly hand: Hand;
  /** The hand's state folder, which must exist. */
  readonly state: string;
  /** A folder that contains the state, such as the brain's; default: the state folder. */
  readonly reserved?: string;
  /** Name of this host; default: its hostname. */
  readonly name?: string;
}

/** Serves a hand over TCP, with load samples and watches; `close` closes everything except the hand. */
export async function serveTcpHand(options: TcpHandOptions): Promise<AgentTcp> {
  const { hand, state, reserved = state, name = hostname(), ...rest } = options;
  const watches = await Watches.open({ file: join(state, "watches.db"), reserved: realpathSync(reserved) });
  const sampler = await new Sampler(hand.workspace).start();
  const closeAll = async (): Promise<void> => {
    sampler.stop();
    await watches.close();
  };
  try {
    const { serveAgentTcp } = await LINKS["agent-tcp"].load();
    const server = await serveAgentTcp({ ...rest, hand, name, sampler, watches });
    return { ...server, close: () => server.close().then(closeAll) };
  } catch (thrown) {
    await closeAll();
    throw thrown;
  }
}
