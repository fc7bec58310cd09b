import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hand } from "@vidro/core";
import { Identities } from "../../packages/brain/src/south/enrolment/identities.ts";
import { newKeyAndRequest } from "../../packages/hands/src/enrol/csr.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { keepAgentWs } from "../../packages/hands/src/links/agent-ws.ts";
import { SouthboundHarness } from "../support/southbound-harness.ts";

/* A fleet that loses its brain and comes back: at its full size it is a figure, and here it is complete. */

const FLEET = 500;
const NEVER = new AbortController().signal;

/** A hand that does what it is told by saying that it is done. */
function idleHand(id: string): Hand {
  const verdict = { decision: "allow", rule: "test", class: "read", reason: "It is a test." } as const;
  const plan = { kind: "file", operation: "read", path: "/", inWorkspace: true } as const;
  return {
    id,
    workspace: "/",
    tools: [{ name: "idle", description: "Does nothing.", parameters: { type: "object" }, idempotent: true }],
    judge: async () => ({ plan, hash: "0", policy: "0", verdict }),
    async *perform() {
      yield { type: "finished", outcome: { kind: "value", text: id } };
    },
    acknowledge: async () => undefined,
    close: async () => undefined,
  };
}

/** Hosts that were enrolled without having to wait for each other. */
async function enrolled(south: SouthboundHarness): Promise<readonly HandIdentity[]> {
  const authority = await south.authorityAt(Date.now);
  const identities = new Identities(south.records);
  const { key, csr } = newKeyAndRequest("fleet");
  const all = Array.from({ length: FLEET }, async (_, index): Promise<HandIdentity> => {
    const [agentId, name] = [`hand_${index}`, `host-${index}`];
    const { certificate, serial } = await authority.forHand(agentId, csr);
    await identities.add({ id: agentId, owner: "local", name, tags: [], serials: [serial] });
    return { agentId, name, url: south.url, ca: authority.certificate, key, certificate, workspace: "/" };
  });
  return Promise.all(all);
}

/** The hands of a fleet, and who of them left for good. */
class Fleet {
  readonly left: unknown[] = [];
  readonly #stop = new AbortController();
  readonly #kept: Promise<void>[];
  readonly #ups = new Map<string, number>();
  #wake: () => void = () => undefined;

  constructor(identities: readonly HandIdentity[]) {
    this.#kept = identities.map((identity) => this.#keep(identity));
  }

  /** Resolves when each hand was let in so many times. */
  async up(times: number): Promise<void> {
    const isUp = (): boolean => this.#ups.size === FLEET && [...this.#ups.values()].every((ups) => ups >= times);
    while (!isUp() && this.left.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#kept);
  }

  async #keep(identity: HandIdentity): Promise<void> {
    const { agentId } = identity;
    const state = {
      readIdentity: async () => identity,
      saveCredentials: async () => identity,
      enterSession: async () => undefined,
      highestEpoch: async () => 0,
    };
    const up = (): void => {
      this.#ups.set(agentId, (this.#ups.get(agentId) ?? 0) + 1);
      this.#wake();
    };
    const link = { state, hand: idleHand(agentId), sample: () => undefined, version: "1", signal: this.#stop.signal };
    await keepAgentWs({ ...link, up }).catch((thrown: unknown) => {
      this.left.push(thrown);
      this.#wake();
    });
  }
}

test("F22: five hundred hands whose brain went away are all back, none was refused, and each is of use", async (t) => {
  const south = await SouthboundHarness.up(t);
  const fleet = new Fleet(await enrolled(south));
  t.after(() => fleet.close());
  await fleet.up(1);
  await south.restart();
  await fleet.up(2);
  assert.deepEqual(fleet.left, []);
  assert.equal(south.hands.count().ok, FLEET);
  assert.deepEqual(
    south.log.filter(({ level }) => level !== "info"),
    [],
  );
  const ids = Array.from({ length: FLEET }, (_, index) => `hand_${index}`);
  const told = ids.map(async (id) => {
    const hand = await south.hands.at(id);
    const action = { id: `act_${id}`, tool: "idle", input: {}, callId: "c" };
    for await (const event of hand.perform({ action, run: "run_1", epoch: 1, ttlMs: 60_000 }, NEVER))
      if (event.type === "finished" && event.outcome.kind === "value") return event.outcome.text;
    return "";
  });
  assert.deepEqual(await Promise.all(told), ids);
});
