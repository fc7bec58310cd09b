import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as rest } from "node:timers/promises";
import { member } from "./contest/member.ts";
import type { Member } from "./contest/member.ts";
import { missingOf, peerNeed, SSHD } from "./contest/needs.ts";
import type { Need } from "./contest/needs.ts";
import { atLeast, atMost } from "./contest/report.ts";
import type { Figure, Report, Table } from "./contest/report.ts";
import { figure, ratioOf, spreadOf, times } from "./contest/spread.ts";
import type { BrainReady, Listener } from "./contestants/brain.ts";
import type { CommandSettings } from "./contestants/commands.ts";
import type { HandsSettings } from "./contestants/hands.ts";

const ROUNDS = 10;
const HOSTS = 50;
/** Processes that have the hands. */
const PROCESSES = 5;
/** How many are run in a row in each round, and before the first one. */
const IN_A_ROW = 20;
const WARM_UP = 60;
const COMMAND = { tool: "command", input: { command: "true" } };
const POLL_MS = 20;

const OURS = [
  { wire: "agent-ws", name: "ours, WebSocket with both certificates" },
  { wire: "executor-ws", name: "ours, executor's WebSocket" },
  { wire: "agent-tcp", name: "ours, TCP agent protocol" },
] as const;
const OTHERS = [
  { kind: "spawn", name: "node spawn, on this machine" },
  { kind: "kept", name: "node spawn between two commits to SQLite" },
  { kind: "ssh-held", name: "ssh with ControlMaster" },
  { kind: "ssh2", name: "ssh2 (npm), connection held" },
  { kind: "ssh", name: "ssh, a new connection each" },
] as const;

/** What those need who do not come with this repository. */
const NEEDS: { readonly [kind in CommandSettings["kind"]]?: readonly Need[] } = {
  "ssh-held": [SSHD],
  ssh2: [SSHD, peerNeed("ssh2")],
  ssh: [SSHD],
};

/** How long a command takes that does nothing. */
interface Took {
  readonly oneMs: number;
  /** On all hosts at once. */
  readonly allMs: number;
}

/** What a command on another host costs over one on this. */
export const remoteCommand: Figure = {
  name: "remote-command",
  title: "Command on a remote hand",
  method: `\`true\`, ${IN_A_ROW} times in a row on one host, and on ${HOSTS} hosts at once, in ${ROUNDS} rounds; all who take part are up from the first round to the last, each in processes of its own, so that what else the machine does meets all of them. Ours goes from the brain, in one process, to hands in others: each checks the shipped policy, has the start on disk before it begins and the outcome before it answers, and is told that the outcome has arrived. The ${HOSTS} hands have a ledger each and are in ${PROCESSES} processes that share one disk; the local commands are all of one process. Between two commits is what the disk alone asks for: \`synchronous = FULL\`, one before the command and one after it. SSH is one OpenSSH server on this machine that has so many connections; what it ran is nowhere on record.`,
  async measure() {
    const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
    const entrants: Entrant[] = [];
    try {
      const leftOut = new Map<string, string>();
      for (const { kind, name } of OTHERS) {
        const missing = missingOf(NEEDS[kind]);
        if (missing.length > 0) leftOut.set(name, missing.join(" and no "));
        else entrants.push(await other(kind, join(folder, kind)));
      }
      for (const { wire } of OURS) entrants.push(await ours(wire, join(folder, wire)));
      for (const { name, one, all } of entrants) {
        process.stderr.write(`  warm: ${name}\n`);
        await one(name === "ssh" ? 1 : WARM_UP);
        await all?.();
      }
      const found = new Map<string, Took[]>();
      for (let round = 0; round < ROUNDS; round += 1) {
        process.stderr.write(`  round ${round + 1} of ${ROUNDS}\n`);
        for (const { name, one, all } of entrants) {
          const took = { oneMs: await one(name === "ssh" ? 1 : IN_A_ROW), allMs: (await all?.()) ?? NaN };
          found.set(name, [...(found.get(name) ?? []), took]);
        }
      }
      return reportOf((name) => found.get(name) ?? [], leftOut);
    } finally {
      for (const { end } of entrants) await end();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
};

/** A contestant that runs `true`. */
interface Entrant {
  readonly name: string;
  /** What one takes, of so many in a row. */
  readonly one: (count: number) => Promise<number>;
  /** What it takes on all hosts at once; not for who would say nothing new by that. */
  readonly all?: () => Promise<number>;
  readonly end: () => Promise<void>;
}

function reportOf(of: (name: string) => readonly Took[], leftOut: ReadonlyMap<string, string>): Report {
  const one = (name: string): number[] => of(name).map(({ oneMs }) => oneMs);
  const all = (name: string): number[] => of(name).map(({ allMs }) => allMs);
  const added = (name: string): number[] => one(name).map((ms, round) => ms - (one("spawn")[round] ?? NaN));
  const cell = (numbers: typeof one, name: string): string => {
    const { median } = spreadOf(numbers(name));
    const ratio = ` · ${times(ratioOf(numbers(name), numbers("spawn")))} spawn`;
    return `${figure(median)}${name === "spawn" || Number.isNaN(median) ? "" : ratio}`;
  };
  const rows = [...OTHERS.slice(0, 2), ...OURS, ...OTHERS.slice(2)]
    .filter(({ name }) => !leftOut.has(name))
    .map((row) => {
      const key = "wire" in row ? row.wire : row.kind;
      return [row.name, cell(one, key), cell(all, key)];
    });
  const table: Table = [["ms for `true`", "one host", `${HOSTS} hosts at once`], ...rows];
  return {
    tables: [table],
    notes: [
      ...OURS.map(({ wire, name }) => {
        const addedTo = spreadOf(one(wire).map((ms, round) => ms - (one("kept")[round] ?? NaN)));
        return `${name}: ${figure(addedTo.median)} ms more than the spawn between two commits.`;
      }),
      ...[...leftOut].map(([name, missing]) => `Left out, since this machine has no ${missing}: ${name}.`),
    ],
    goals: OURS.flatMap(({ wire, name }) => [
      atMost(`${name}: ms added to a bare spawn`, 1.5, spreadOf(added(wire))),
      ...(one("ssh-held").length === 0
        ? []
        : [atLeast(`ssh with ControlMaster ÷ ${name}`, 3, ratioOf(one("ssh-held"), one(wire)))]),
      atMost(`${HOSTS} at once: ${name} ÷ ${HOSTS} local spawns`, 1.3, ratioOf(all(wire), all("spawn"))),
    ]),
  };
}

async function other(kind: CommandSettings["kind"], folder: string): Promise<Entrant> {
  mkdirSync(folder, { recursive: true });
  const commands = await member("contestants/commands.ts", { kind, hosts: kind === "ssh" ? 1 : HOSTS, folder });
  return {
    name: kind,
    one: (count) => commands.ask("one", count),
    ...(kind === "ssh" ? {} : { all: () => commands.ask<number>("all", 1) }),
    end: () => commands.end(),
  };
}

async function ours(wire: HandsSettings["wire"], folder: string): Promise<Entrant> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const brain = await member<BrainReady>("contestants/brain.ts", { home: folder, south: 0, http: 0 });
  const hands: Member<readonly Listener[]>[] = [];
  const identities = join(folder, "identities.json");
  if (wire === "agent-ws") await brain.ask("enrol", HOSTS, identities);
  const token = wire === "executor-ws" ? { token: await brain.ask("token") } : {};
  const known = wire === "agent-ws" ? { identities } : token;
  const settings = { wire, real: true, folder: join(folder, "hands"), http: brain.ready.http, ...known };
  for (let from = 0, count = HOSTS / PROCESSES; from < HOSTS; from += count)
    hands.push(await member<readonly Listener[]>("contestants/hands.ts", { ...settings, from, count }));
  const listeners = hands.flatMap(({ ready }) => ready);
  await brain.ask("dial", listeners);
  while ((await brain.ask<number>("connected")) < HOSTS) await rest(POLL_MS);
  return {
    name: wire,
    one: (count) => brain.ask("one", COMMAND, count),
    all: () => brain.ask("all", COMMAND, 1),
    end: async () => void (await Promise.all([...hands, brain].map((one) => one.end()))),
  };
}
