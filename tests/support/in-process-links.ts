import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Action, ActionEnd, Hand, Order } from "@vidro/core";
import { dialTcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import { HandRegister } from "../../packages/brain/src/south/register/hand-register.ts";
import { HandStateFolder } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { keepAgentWs } from "../../packages/hands/src/links/agent-ws.ts";
import type { HandTool } from "../../packages/hands/src/tools/tool.ts";
import { defineTool } from "../../packages/hands/src/tools/tool.ts";
import { startExecutorGateway } from "./executor-server.ts";
import { startOurExecutor } from "./our-executor.ts";
import { SignedBrain, signedHost } from "./signed-http-harness.ts";
import { SouthboundHarness } from "./southbound-harness.ts";
import { openPassingStore } from "./store-under-test.ts";
import { ALLOW_ALL, startTcpHand } from "./tcp-hand.ts";
import { openHand, temporaryFolder } from "./local-runs.ts";

/*
 * Both ends of a link in this process, over real sockets, with something between them that a test puts there. The hand
 * has one tool, which leaves a mark in a file and is not to be used twice.
 */

/** Where the end that listens is. */
export interface Target {
  readonly port: number;
  /** Where certificates count: who gives them out, and the identity of the hand. */
  readonly trust?: { readonly south: SouthboundHarness; readonly identity: HandIdentity };
}

/** Puts something before the end that listens, and gives the port to dial instead. */
export type Between = (target: Target) => Promise<number>;

/** A brain's view of a hand. */
export interface InProcessLink {
  readonly hand: Hand;
  /** What was done on the host, in its order. */
  readonly marks: () => readonly string[];
}

/** Does its work and leaves a mark; twice would be seen. */
export const markTool = defineTool({
  name: "mark",
  description: "Leaves a mark.",
  parameters: {
    type: "object",
    required: ["n"],
    properties: { n: { type: "integer", minimum: 0, maximum: 1_000_000 } },
    additionalProperties: false,
  },
  idempotent: false,
  effect: "write",
  plan: async () => ({ kind: "facts", facts: "mark" }),
  async run({ n }, { context }) {
    appendFileSync(join(context.workspace, "marks"), `${n}\n`);
    return { kind: "value", text: `marked ${n}`, data: { n } };
  },
});

const MARKING = [markTool];

interface Host {
  readonly hand: Hand;
  readonly marks: InProcessLink["marks"];
}

type Tools = readonly HandTool[];

async function hostIn(t: TestContext, tools: Tools): Promise<Host> {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const hand = await openHand(folder, workspace, { policy: ALLOW_ALL, tools });
  t.after(() => hand.close());
  return { hand, marks: () => marksIn(workspace) };
}

function marksIn(workspace: string): readonly string[] {
  try {
    return readFileSync(join(workspace, "marks"), "utf8").trimEnd().split("\n");
  } catch {
    return []; // Nothing was done yet.
  }
}

const QUICKLY = { redialMs: 1, redialCapMs: 2 } as const;

async function agentWs(t: TestContext, between: Between, tools: Tools = MARKING): Promise<InProcessLink> {
  const south = await SouthboundHarness.up(t);
  const enrolled = await south.enrolled();
  const port = await between({ port: south.place.port, trust: { south, identity: enrolled } });
  const host = await hostIn(t, tools);
  const state = await HandStateFolder.open(join(temporaryFolder(t), "state"));
  await state.saveIdentity({ ...enrolled, url: `wss://127.0.0.1:${port}/southbound` });
  const stop = new AbortController();
  const { promise: up, resolve } = Promise.withResolvers<void>();
  const deps = { state, hand: host.hand, sample: () => undefined, version: "1", signal: stop.signal, up: resolve };
  const ended = keepAgentWs({ ...deps, up: () => resolve(), bounds: QUICKLY });
  t.after(async () => {
    stop.abort();
    await ended;
  });
  await Promise.race([up, ended]);
  return { hand: await south.hands.at(enrolled.agentId), marks: host.marks };
}

async function agentHttp(t: TestContext, between: Between, tools: Tools = MARKING): Promise<InProcessLink> {
  const brain = await SignedBrain.open(t, temporaryFolder(t));
  const { keyid, root } = await brain.enrol("h1");
  const port = await between({ port: Number(new URL(brain.url).port) });
  const host = await hostIn(t, tools);
  const signed = await signedHost(t, keyid, root);
  await signed.join(`http://127.0.0.1:${port}`, { hand: host.hand, bounds: QUICKLY });
  return { hand: await brain.hands.at("h1"), marks: host.marks };
}

async function executorWs(t: TestContext, between: Between, tools: Tools = MARKING): Promise<InProcessLink> {
  const end = await startExecutorGateway(t, {});
  const { token } = await end.tokens.create({ owner: "ana" });
  const port = await between({ port: Number(new URL(end.url).port) });
  const { hand, marks } = await hostIn(t, tools);
  const about = { url: `http://127.0.0.1:${port}`, token, task: { id: "near" }, hand };
  const it = await startOurExecutor({ ...about, redialling: { bounds: QUICKLY } }, { state: "", project: "" });
  t.after(() => it.executor.close());
  const { session_id: session } = await it.executor.joined;
  return { hand: await end.brain.hands.at(`executor:${session}`), marks };
}

async function agentTcp(t: TestContext, between: Between, tools: Tools = MARKING): Promise<InProcessLink> {
  const host = await startTcpHand(t, { policy: ALLOW_ALL, tools, bounds: { burst: 1e9 } });
  const port = await between({ port: host.port });
  const store = await openPassingStore();
  const hands = new HandRegister({ records: store.records, log: () => undefined, now: Date.now });
  await hands.load();
  const where = { host: "127.0.0.1", port, token: await host.token("hand"), owner: "ana", redialMs: 1 };
  const dialling = dialTcpHand(where, { hands, log: () => undefined });
  t.after(async () => {
    await dialling.close();
    await store.close();
  });
  await dialling.reached;
  return { hand: await hands.at(`tcp:127.0.0.1:${port}`), marks: () => marksIn(host.workspace) };
}

/** All four. */
export const IN_PROCESS_LINKS = {
  "agent-ws": agentWs,
  "agent-http": agentHttp,
  "executor-ws": executorWs,
  "agent-tcp": agentTcp,
} as const;

let last = 0;

/** An order for another mark. */
export function markOrder(): Order & { readonly action: Action & { readonly input: { readonly n: number } } } {
  last += 1;
  return {
    action: { id: `act_mark_${last}`, tool: "mark", input: { n: last }, callId: "c" },
    run: "run_1",
    epoch: 1,
    ttlMs: 60_000,
  };
}

const NEVER = new AbortController().signal;

/** Orders as the engine does: the same id again as long as the hand cannot be reached. */
export async function insisted(hand: Hand, order: Order): Promise<ActionEnd> {
  for (;;) {
    for await (const event of hand.perform(order, NEVER)) {
      if (event.type === "output") continue;
      if (event.type !== "failed" || event.fault.code !== "HAND_UNAVAILABLE") return event;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
