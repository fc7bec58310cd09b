import { createWriteStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hand } from "@vidro/core";
import { openBrain } from "../../packages/brain/src/brain.ts";
import { readConfig } from "@vidro/brain/config";
import { jsonLog } from "../../packages/brain/src/observe/log.ts";
import { serveHttp } from "../../packages/brain/src/http/server.ts";
import { dialTcpHand } from "../../packages/brain/src/south/agent-tcp.ts";
import { openAuthority } from "../../packages/brain/src/south/enrolment/authority.ts";
import { executorGateway } from "../../packages/brain/src/south/executor-ws.ts";
import { executorUpgrades } from "../../packages/brain/src/north/executor.ts";
import { Identities } from "../../packages/brain/src/south/enrolment/identities.ts";
import { standardTools } from "../../packages/brain/src/south/local.ts";
import { SouthboundListener } from "../../packages/brain/src/south/agent-ws/southbound.ts";
import { TelemetryStore } from "../../packages/brain/src/observe/telemetry.ts";
import type { TakeSample } from "../../packages/brain/src/observe/telemetry.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { newKeyAndRequest } from "../../packages/hands/src/enrol/csr.ts";
import { serveMember } from "../contest/member.ts";
import { medianMs } from "../contest/spread.ts";

/* A brain for hands on every wire, with all that a daemon has between its store and its sockets. */

/** Where it lives, and where it listens; 0 picks free ports. */
export interface BrainSettings {
  readonly home: string;
  readonly south: number;
  readonly http: number;
}

/** Where it can be reached. */
export interface BrainReady {
  readonly south: string;
  readonly http: string;
}

/** A hand that listens for TCP. */
export interface Listener {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

await serveMember(async ({ home, south, http }: BrainSettings) => {
  const file = createWriteStream(join(home, "log"), { flags: "a" });
  const log = jsonLog((line) => file.write(line));
  const brain = await openBrain({
    home,
    config: readConfig({ env: { VIDRO_MODEL: "offline" } }),
    localHand: false,
    log,
  });
  const { hands, records } = brain;
  const tokens = new Tokens(records);
  const telemetry = new TelemetryStore({ now: Date.now, counted: () => undefined });
  const folder = join(home, "ca");
  const take: TakeSample = (hand, push) => telemetry.take(hand, push);
  const deps = { records, hands, take, standardTools, version: "1", log, now: Date.now };
  const door = new SouthboundListener({ ...deps, folder, port: south, hosts: [] });
  const server = await serveHttp({
    surfaces: [{ name: "none", routes: [], faultBody: ({ code }) => ({ code }) }],
    upgrades: executorUpgrades({ ...brain, gateway: () => executorGateway({ hands, log }), log, version: "1" }),
    tokens,
    records,
    host: "127.0.0.1",
    port: http,
    production: false,
    log,
  });
  const ready: BrainReady = { south: await door.listen(), http: server.url };

  /** Enrols so many hosts with one key, and leaves who they are in a file. */
  const enrol = async (count: number, path: string): Promise<void> => {
    const authority = await openAuthority({ folder, now: Date.now });
    const identities = new Identities(records);
    const { key, csr } = newKeyAndRequest("bench");
    const all: HandIdentity[] = [];
    const writes: Promise<void>[] = [];
    for (let index = 0; index < count; index += 1) {
      const [agentId, name] = [`hand_${index}`, `host-${index}`];
      const { certificate, serial } = await authority.forHand(agentId, csr);
      writes.push(identities.add({ id: agentId, owner: "local", name, tags: [], serials: [serial] }));
      all.push({ agentId, name, url: ready.south, ca: authority.certificate, key, certificate, workspace: "/" });
    }
    await Promise.all(writes);
    writeFileSync(path, JSON.stringify(all));
  };

  const known = (): readonly string[] => hands.list(ADMIN).flatMap(({ id, state }) => (state === "ok" ? [id] : []));
  const order = orders((id) => hands.at(id));

  return {
    ready,
    orders: {
      enrol,
      token: async () => (await tokens.create({ owner: "local", scopes: ["runs"] })).token,
      dial: (all: readonly Listener[]) =>
        void all.map((hand) => dialTcpHand({ ...hand, owner: "local" }, { hands, log })),
      connected: () => hands.count().ok,
      /** What an order takes on one hand, one after the other. */
      one(action: Ordered, times: number) {
        const [id = ""] = known();
        return medianMs(times, () => order(id, action));
      },
      /** What an order takes on all hands at once. */
      all(action: Ordered, times: number) {
        const ids = known();
        return medianMs(times, () => Promise.all(ids.map((id) => order(id, action))));
      },
    },
  };
});

/** What is ordered. */
export interface Ordered {
  readonly tool: string;
  readonly input: { readonly [name: string]: string };
}

const ADMIN = { owner: "local", admin: true };

/** Orders as the engine does: a new id each time, and the hand is told that its outcome has arrived. */
function orders(at: (id: string) => Promise<Hand>): (id: string, action: Ordered) => Promise<void> {
  const never = new AbortController().signal;
  let last = 0;
  return async (id, { tool, input }) => {
    last += 1;
    const action = { id: `act_${process.pid}_${last}`, tool, input, callId: "c" };
    const hand = await at(id);
    for await (const event of hand.perform({ action, run: "run_bench", epoch: 1, ttlMs: 60_000 }, never)) {
      if (event.type === "output") continue;
      if (event.type !== "finished") throw new Error(`${id}: ${event.fault.code} ${event.fault.message}`);
      await hand.acknowledge(action.id);
    }
  };
}
