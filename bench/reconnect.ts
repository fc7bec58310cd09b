import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { member } from "./contest/member.ts";
import type { Member } from "./contest/member.ts";
import { cpuMsOf, rssMbOf } from "./contest/process.ts";
import { atMost } from "./contest/report.ts";
import type { Figure, Table } from "./contest/report.ts";
import { figure, spreadOf, times, ratioOf } from "./contest/spread.ts";
import type { BrainReady, Listener } from "./contestants/brain.ts";
import type { Fares, HandsSettings } from "./contestants/hands.ts";

const ROUNDS = 2;
/** Processes that have the hands. */
const PROCESSES = 2;
const POLL_MS = 100;
/** Who comes back; an HTTP server takes fewer connections than the listener for hands. */
const FLEETS = [
  { wire: "agent-ws", hands: 10_000, name: "ours, WebSocket with both certificates" },
  { wire: "executor-ws", hands: 8000, name: "ours, executor's WebSocket, a token" },
  { wire: "agent-tcp", hands: 2000, name: "ours, TCP agent protocol, a token" },
] as const;
const PLAIN = "plain node:https and ws, both certificates";

type Fleet = (typeof FLEETS)[number];

/** How a fleet came back. */
interface Took {
  readonly allMs: number;
  /** The processor time of the brain for each hand, its start included. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** Hands that were refused. */
  readonly refused: number;
}

/** How long it takes until all hands are back when their brain was killed. */
export const reconnect: Figure = {
  name: "reconnect",
  title: "All hands come back",
  method: `A brain with so many hands is killed, and started again at the same address; from the kill until the last hand is back. The links are real, with their rests of random length, and the hands say of themselves what every hand says, and do nothing; they are in ${PROCESSES} processes on the same two cores as the brain, and take more of them than it does. Over TCP it is the brain that dials. Plain is what one writes with node:https and ws alone, for the same hands: it asks for certificates, looks up no hand and stores nothing. Tokens are hashed once for the brain, not for each hand. ${ROUNDS} rounds.`,
  async measure() {
    const found = new Map<string, Took[]>();
    for (const fleet of FLEETS)
      await withFleet(fleet, async (restarted) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const names = fleet.wire === "agent-ws" ? [PLAIN, fleet.name] : [fleet.name];
          for (const name of names) {
            const took = await restarted(name === PLAIN);
            process.stderr.write(`  round ${round + 1} of ${ROUNDS}: ${name}: ${JSON.stringify(took)}\n`);
            found.set(name, [...(found.get(name) ?? []), took]);
          }
        }
      });
    return reportOf((name) => found.get(name) ?? []);
  },
};

function reportOf(of: (name: string) => readonly Took[]): Awaited<ReturnType<Figure["measure"]>> {
  const seconds = (name: string): number[] => of(name).map(({ allMs }) => allMs / 1000);
  const median = (name: string, field: keyof Took): string =>
    figure(spreadOf(of(name).map((took) => took[field])).median);
  const refused = (name: string): number => of(name).reduce((sum, took) => sum + took.refused, 0);
  const row = (name: string, hands: number): readonly string[] => {
    const { median: middle, least, most } = spreadOf(seconds(name));
    const back = `${figure(middle)} (${figure(least)}–${figure(most)})`;
    const count = hands.toLocaleString("en-US");
    return [name, count, back, median(name, "cpuMs"), median(name, "rssMb"), String(refused(name))];
  };
  const [first] = FLEETS;
  const heads = ["who", "hands", "s until all are back", "ms of the brain's processor for each", "MB", "refused"];
  const table: Table = [heads, row(PLAIN, first.hands), ...FLEETS.map(({ name, hands }) => row(name, hands))];
  return {
    tables: [table],
    goals: [
      atMost(
        `${first.hands.toLocaleString("en-US")} hands with certificates: s until all are back`,
        60,
        spreadOf(seconds(first.name)),
      ),
      {
        goal: "hands that were refused: 0",
        reached: FLEETS.map(({ name }) => refused(name)).join(", "),
        met: FLEETS.every(({ name }) => refused(name) === 0),
      },
    ],
    notes: [`Ours ÷ plain, until all are back: ${times(ratioOf(seconds(first.name), seconds(PLAIN)))}.`],
  };
}

/** Brings a fleet up, and lets its brain be killed and replaced, by the plain one or by ours. */
async function withFleet(
  fleet: Fleet,
  measure: (restarted: (plain: boolean) => Promise<Took>) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  const members: Member<unknown>[] = [];
  const started = async <Ready>(script: string, settings: object): Promise<Member<Ready>> => {
    const one = await member<Ready>(script, settings);
    members.push(one);
    return one;
  };
  try {
    const first = await started<BrainReady>("contestants/brain.ts", { home, south: 0, http: 0 });
    const [south = 0, http = 0] = [first.ready.south, first.ready.http].map((url) => Number(new URL(url).port));
    const hands = await handsOf(fleet, { home, brain: first, started });
    const listeners = hands.flatMap(({ ready }) => ready);
    await first.ask("dial", listeners);
    await allUp(fleet, hands, first);
    let brain: Member<unknown> = first;
    await measure(async (plain) => {
      const begun = performance.now();
      const before = (await faresOf(hands)).refused;
      await brain.kill();
      brain = plain
        ? await started("contestants/plain-south.ts", { folder: join(home, "ca"), port: south })
        : await started("contestants/brain.ts", { home, south, http });
      if (!plain) await brain.ask("dial", listeners);
      await allUp(fleet, hands, brain);
      const allMs = performance.now() - begun;
      const refused = (await faresOf(hands)).refused - before;
      return { allMs, cpuMs: cpuMsOf(brain.pid) / fleet.hands, rssMb: rssMbOf(brain.pid), refused };
    });
  } finally {
    await Promise.all(members.map((one) => one.kill()));
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What a fleet is brought up with. */
interface Muster {
  readonly home: string;
  readonly brain: Member<BrainReady>;
  readonly started: <Ready>(script: string, settings: object) => Promise<Member<Ready>>;
}

type Hands = readonly Member<readonly Listener[]>[];

async function handsOf({ wire, hands }: Fleet, { home, brain, started }: Muster): Promise<Hands> {
  const identities = join(home, "identities.json");
  if (wire === "agent-ws") await brain.ask("enrol", hands, identities);
  const known =
    wire === "agent-ws" ? { identities } : wire === "executor-ws" ? { token: await brain.ask<string>("token") } : {};
  const count = hands / PROCESSES;
  const settings = { wire, real: false, folder: join(home, "hands"), count, http: brain.ready.http, ...known };
  const all: Member<readonly Listener[]>[] = [];
  for (let from = 0; from < hands; from += count) {
    const own: HandsSettings = { ...settings, from };
    all.push(await started<readonly Listener[]>("contestants/hands.ts", own));
  }
  return all;
}

async function allUp({ wire, hands: count }: Fleet, hands: Hands, brain: Member<unknown>): Promise<void> {
  const up = async (): Promise<number> =>
    wire === "agent-tcp" ? brain.ask<number>("connected") : (await faresOf(hands)).up;
  while ((await up()) < count) await rest(POLL_MS);
}

async function faresOf(hands: Hands): Promise<Pick<Fares, "up" | "refused">> {
  const all = await Promise.all(hands.map((one) => one.ask<Fares>("fares")));
  return { up: all.reduce((sum, { up }) => sum + up, 0), refused: all.reduce((sum, { refused }) => sum + refused, 0) };
}
