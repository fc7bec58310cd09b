import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Entry } from "@vidro/core";
import { openStore } from "../../packages/brain/src/stores/stores.ts";
import { processesIn } from "../support/processes.ts";
import { actionsOf, violationsOf } from "./invariants.ts";
import type { Known, Violation } from "./invariants.ts";
import { planOf } from "./plan.ts";
import type { ChaosOptions, Place, PlannedFault } from "./plan.ts";
import { ChaosStand } from "./harness.ts";
import { PlannedClient } from "./planned-client.ts";

/*
 * A brain, its hands and those who watch, while everything that can go wrong does, at random and from one seed. When
 * it is over, all is made whole, and what has to be true whatever happened is checked.
 */

/** What came of a course. */
export interface ChaosReport {
  readonly violations: readonly Violation[];
  /** The journals of the runs that violations are about. */
  readonly journals: ReadonlyMap<string, readonly Entry[]>;
  readonly counts: { readonly [what: string]: number };
}

/** Gets a line of what happens. */
export type Say = (line: string) => void;

const SETTLE_MS = 60_000;
const LOOK_MS = 100;
const READ = 10_000;
const PLACES = ["local", "ws", "http", "tcp"] as const satisfies readonly Place[];

/** Carries out the course of a seed, and checks what has to be true after it. */
export async function chaos(options: ChaosOptions, say: Say): Promise<ChaosReport> {
  const plan = planOf(options);
  await using stand = await ChaosStand.set();
  const counts: { [what: string]: number } = {};
  const began = performance.now();
  const tell = (line: string): void => say(`+${((performance.now() - began) / 1000).toFixed(2)} s ${line}`);
  const visitors = plan.runs.map((run) => new PlannedClient(stand, run));
  const begun = visitors.map((visitor) => visitor.begin());
  const befallen = plan.faults.map(async (fault) => {
    await pause(fault.atMs);
    tell(
      `${fault.kind} ${fault.kind === "kill" || fault.kind === "stop" ? fault.member : "brain"} for ${fault.forMs} ms`,
    );
    counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
    await befall(stand, fault);
  });
  await Promise.all([...befallen, pause(options.seconds * 1000)]);
  tell("everything is whole again");
  const unsettled = await settled(stand, visitors, tell);
  await Promise.all(visitors.map((visitor) => visitor.leave()));
  await Promise.all(begun);
  const report = await examined(stand, visitors, unsettled);
  return { ...report, counts: { ...counts, ...report.counts } };
}

async function befall(stand: ChaosStand, { kind, member, forMs }: PlannedFault): Promise<void> {
  switch (kind) {
    case "kill":
      return stand.members[member].kill(forMs);
    case "stop":
      return stand.members[member].freeze(forMs);
    case "store":
      return stand.lockStore(forMs);
    case "disk":
      return stand.fillDisk(forMs);
    case "abort":
      return; // A person does that, as it was planned for the run.
  }
}

/** Waits until every run is over or waits for good, for as long as that may take; gives what did not get there. */
async function settled(
  stand: ChaosStand,
  visitors: readonly PlannedClient[],
  tell: Say,
): Promise<readonly Violation[]> {
  const since = performance.now();
  try {
    await Promise.all(Object.values(stand.members).map((member) => member.up()));
  } catch (thrown) {
    return [{ invariant: "every process comes up again", what: String(thrown) }];
  }
  while (visitors.some(({ isSettled }) => !isSettled) && performance.now() - since < SETTLE_MS) await pause(LOOK_MS);
  tell(`settled after ${((performance.now() - since) / 1000).toFixed(1)} s`);
  return visitors
    .filter(({ isSettled }) => !isSettled)
    .map(({ run, plan }) => ({
      invariant: "every run goes on once everything is whole again",
      what: `${plan.key} on ${plan.place} has not settled in ${SETTLE_MS / 1000} s`,
      ...(run === undefined ? {} : { run }),
    }));
}

async function examined(
  stand: ChaosStand,
  visitors: readonly PlannedClient[],
  unsettled: readonly Violation[],
): Promise<ChaosReport> {
  const { members, stage } = stand;
  const codes = await Promise.all(
    Object.values(members).map(async (member) => [member.name, await member.end()] as const),
  );
  const violations = [
    ...unsettled,
    ...codes
      .filter(([, code]) => code !== 0)
      .map(([name, code]) => ({ invariant: "a process ends when it is asked to", what: `${name} ended with ${code}` })),
    ...Object.values(members).flatMap(({ name, deaths }) =>
      deaths.map((words) => ({ invariant: "no process ends by itself", what: `${name}: ${words}` })),
    ),
    ...PLACES.flatMap((place) =>
      processesIn(stand.workspace(place)).map((pid) => ({
        invariant: "no process of an action is left",
        what: `${pid} on ${place}`,
      })),
    ),
  ];
  const store = await openStore("sqlite", join(stage.home, "journal.db"));
  const known: Known[] = [];
  for (const visitor of visitors) {
    const entries = visitor.run === undefined ? [] : await store.journal.read(visitor.run, 0, READ);
    known.push({ visitor, entries, marks: stand.marks(visitor.plan.place) });
  }
  await store.close();
  const audit = await stage.run("audit", "verify");
  if (audit.code !== 0) violations.push({ invariant: "the hash chains hold", what: audit.stdout + audit.stderr });
  for (const one of known) violations.push(...violationsOf(one));
  const journals = new Map(
    known.flatMap(({ visitor, entries }) => (visitor.run === undefined ? [] : [[visitor.run, entries]])),
  );
  return { violations, journals, counts: countsOf(stand, known) };
}

function countsOf(stand: ChaosStand, known: readonly Known[]): { readonly [what: string]: number } {
  const sum = (of: (one: Known) => number): number => known.reduce((all, one) => all + of(one), 0);
  const last = (type: string): number => sum(({ entries }) => (entries.at(-1)?.event.type === type ? 1 : 0));
  return {
    runs: known.length,
    finished: last("run.finished"),
    failed: last("run.failed"),
    aborted: last("run.aborted"),
    asking: last("question.asked"),
    actions: sum(({ entries }) => actionsOf(entries).started),
    unknown: sum(({ entries }) => actionsOf(entries).unknown),
    effects: PLACES.reduce((all, place) => all + stand.marks(place).length, 0),
    "requests asked again": sum(({ visitor }) => visitor.refusals.length),
    "followers cut": sum(({ visitor }) => visitor.followers.reduce((all, { cuts }) => all + cuts - 1, 0)),
  };
}
