import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Hand } from "@vidro/core";
import { serveAgentTcp } from "../links/agent-tcp.ts";
import type { AgentTcp, AgentTcpOptions } from "../links/agent-tcp.ts";
import { Sampler } from "../host/sampler.ts";
import { Watches } from "../host/watches.ts";

/** A hand, where it keeps its state, and how it is served. */
export interface TcpHandOptions extends Omit<AgentTcpOptions, "hand" | "name" | "sampler" | "watches"> {
  readonly hand: Hand;
  /** The folder of the hand's state, which is there. */
  readonly state: string;
  /** A folder around the state, such as the brain's; default: the state folder. */
  readonly reserved?: string;
  /** What people call this host; default: as it calls itself. */
  readonly name?: string;
}

/** Serves a hand over TCP, with its samples of the machine and its watches; what it is closed with closes all but the hand. */
export async function serveTcpHand(options: TcpHandOptions): Promise<AgentTcp> {
  const { hand, state, reserved = state, name = hostname(), ...rest } = options;
  const watches = await Watches.open({ file: join(state, "watches.db"), reserved: realpathSync(reserved) });
  const sampler = await new Sampler(hand.workspace).start();
  const closeAll = async (): Promise<void> => {
    sampler.stop();
    await watches.close();
  };
  try {
    const server = await serveAgentTcp({ ...rest, hand, name, sampler, watches });
    return { ...server, close: () => server.close().then(closeAll) };
  } catch (thrown) {
    await closeAll();
    throw thrown;
  }
}
