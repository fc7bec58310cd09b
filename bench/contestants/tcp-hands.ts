import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Hand } from "@vidro/core";
import { memoryStore } from "../../packages/brain/src/stores/memory.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import { serveAgentTcp } from "../../packages/hands/src/links/agent-tcp.ts";
import { Sampler } from "../../packages/hands/src/host/sampler.ts";
import { Watches } from "../../packages/hands/src/host/watches.ts";
import type { Listener } from "./brain.ts";

/** Gives what lets hands listen for a brain; what a host knows of its machine, and its token, is the same for all. */
export async function tcpListener(folder: string): Promise<(hand: Hand) => Promise<Listener>> {
  mkdirSync(folder, { recursive: true });
  const tokens = new Tokens(memoryStore().records);
  const { token } = await tokens.create({ owner: "bench", scopes: ["hand"] });
  const watches = await Watches.open({ file: join(folder, `watches-${process.pid}.db`), reserved: folder });
  const sampler = await new Sampler(folder).start();
  const verify = (given: string) => tokens.verify(given);
  const host = "127.0.0.1";
  const options = { name: "bench", version: "1", sampler, watches, verify, host, port: 0 };
  return async (hand) => ({ host, port: (await serveAgentTcp({ ...options, hand })).port, token });
}
