import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { FAULTS } from "@vidro/core";
import type { Fault, Hand, JsonObject } from "@vidro/core";
import { DEFAULT_POLICY } from "../../packages/hands/src/policy/default-policy.ts";
import { localHand } from "../../packages/hands/src/hand.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import type { ExecutorEvent } from "../../packages/hands/src/links/executor-ws/executor-state.ts";
import { openPolicy } from "../../packages/hands/src/policy/policy-file.ts";
import { TOOLS } from "../../packages/hands/src/tools/tools.ts";
import { serveMember } from "../contest/member.ts";
import type { Listener } from "./brain.ts";
import { INSTANT_HAND } from "./ours.ts";

/* Many hands in one process, each with a link of its own as a host would have it. */

/** Which hands, and how they reach their brain. */
export interface HandsSettings {
  readonly wire: "agent-ws" | "executor-ws" | "agent-tcp";
  /** Whether they run commands with a policy and a ledger, or do nothing at once. */
  readonly real: boolean;
  /** Where their folders are made. */
  readonly folder: string;
  readonly from: number;
  readonly count: number;
  /** The file with who they are, where they have certificates. */
  readonly identities?: string;
  readonly http?: string;
  readonly token?: string;
}

/** How the links have fared so far. */
export interface Fares {
  /** Hands whose link stands now. */
  readonly up: number;
  /** Refusals that make another try pointless. */
  readonly refused: number;
  /** Why links were lost or not made, by code. */
  readonly downs: { readonly [code: string]: number };
}

/** It says of itself what every hand does, and does nothing. */
const IDLE_HAND: Hand = {
  ...INSTANT_HAND,
  tools: TOOLS.map(({ name, description, parameters, idempotent }) => ({ name, description, parameters, idempotent })),
};

const fares = { up: 0, refused: 0, downs: {} as { [code: string]: number } };

/** Gives what connects the hand of a number, or tells where it listens; a process loads the wire that it needs. */
type Wire = (
  settings: HandsSettings,
) => Promise<(hand: Hand, index: number) => Promise<Listener | undefined> | undefined>;

const WIRES: { readonly [Name in HandsSettings["wire"]]: Wire } = {
  "agent-ws": agentWs,
  "executor-ws": executorWs,
  "agent-tcp": async ({ folder }) => (await import("./tcp-hands.ts")).tcpListener(folder),
};

/** Counts how the links of one hand fare. */
interface Tally {
  readonly up: () => void;
  readonly down: (why: Pick<Fault, "code">) => void;
  readonly over: (thrown: unknown) => void;
}

function tally(): Tally {
  let isUp = false;
  return {
    up() {
      if (!isUp) fares.up += 1;
      isUp = true;
    },
    down({ code }) {
      if (isUp) fares.up -= 1;
      isUp = false;
      fares.downs[code] = (fares.downs[code] ?? 0) + 1;
    },
    over(thrown) {
      const { code = "INTERNAL_ERROR" } = thrown as Partial<Fault>;
      fares.refused += 1;
      fares.downs[code] = (fares.downs[code] ?? 0) + 1;
      process.stderr.write(`  a hand has left: ${code} ${FAULTS[code].says}\n`);
    },
  };
}

/** Hands that come for the first time at once. */
const AT_ONCE = 100;
const POLL_MS = 5;
const SAMPLE: JsonObject = { cpu: 0.1, memory: 0.2, load1: 0.3 };

async function agentWs({ identities: file = "" }: HandsSettings): ReturnType<Wire> {
  const { keepAgentWs } = await import("../../packages/hands/src/links/agent-ws.ts");
  const identities = JSON.parse(readFileSync(file, "utf8")) as readonly HandIdentity[];
  return (hand, index) => {
    const { up, down, over } = tally();
    const identity = identities[index];
    // Each host has a disk of its own for its session; here they would all wait for the same one.
    const state = {
      readIdentity: async () => identity,
      saveCredentials: async () => identity!,
      enterSession: async () => undefined,
      highestEpoch: async () => 0,
    };
    const { signal } = new AbortController();
    const bounds = { firstDials: Infinity };
    keepAgentWs({ state, hand, sample: () => SAMPLE, version: "1", signal, up, down, bounds }).catch(over);
    return undefined;
  };
}

async function executorWs({ http: url = "", token = "" }: HandsSettings): ReturnType<Wire> {
  const { Executor } = await import("../../packages/hands/src/links/executor-ws.ts");
  return (hand, index) => {
    const { up, down, over } = tally();
    const name = `host-${index}`;
    const watch = ({ type }: ExecutorEvent): void => {
      if (type === "HANDSHAKE_ACKED") up();
      if (type === "CONNECTION_ERROR") down({ code: "CONNECTION_LOST" });
    };
    new Executor({ url, token, hand, task: { id: name }, name, version: "1", watch }).over.catch(over);
    return undefined;
  };
}

/** The shipped policy, and one more rule: `true` may run. */
async function realHand(folder: string): Promise<Hand> {
  const [workspace, state] = [join(folder, "workspace"), join(folder, "state")];
  for (const path of [workspace, state]) mkdirSync(path, { recursive: true });
  const may = {
    kind: "process",
    id: "nothing",
    program: ["true"],
    arguments: { fit: {} },
    // What the wire takes is measured here: of this class, nothing holds it.
    class: "privileged",
    decision: "allow",
    examples: { match: [["true"]], not_match: [["false"]] },
  };
  const file = join(folder, "policy.json");
  writeFileSync(file, JSON.stringify({ ...DEFAULT_POLICY, rules: [...DEFAULT_POLICY.rules, may] }));
  return localHand({ id: "bench", workspace, state, policy: openPolicy({ file, workspace, state }) });
}

await serveMember(async (settings: HandsSettings) => {
  const { wire, from, count, real, folder } = settings;
  const connect = await WIRES[wire](settings);
  const listeners: (Listener | undefined)[] = [];
  for (let index = from; index < from + count; index += 1) {
    listeners.push(await connect(real ? await realHand(join(folder, String(index))) : IDLE_HAND, index));
    // Only their way back is a rush; who is dialled does not know whether it is up.
    if (wire !== "agent-tcp") while (index - from - fares.up >= AT_ONCE) await rest(POLL_MS);
  }
  return { ready: listeners.filter((one) => one !== undefined), orders: { fares: (): Fares => fares } };
});
