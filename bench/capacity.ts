import type { Figure, Table } from "./contest/report.ts";
import { figure } from "./contest/spread.ts";

/*
 * What a fleet needs, from what one brain, one PostgreSQL and one Redis were measured to carry. Arithmetic and no
 * measurement: the figures below are those of docs/reference/benchmarks.md, on a machine with two cores.
 */

/** Measured costs, and what operators plan with. */
export interface CapacityInputs {
  /** Steps a second that one brain drives on PostgreSQL [brains]. */
  readonly brainSteps: number;
  /** Steps a second that one PostgreSQL commits for several brains [brains]. */
  readonly postgresSteps: number;
  /** Bytes that a step takes in PostgreSQL, with its indexes. */
  readonly stepBytes: number;
  /** Commands a second of one Redis, one connection in flight each. */
  readonly redisCommands: number;
  /** Commands of one step: two for each of its five entries, and those of wakes and live words. */
  readonly stepCommands: number;
  /** Connected hands of one brain that are all back within a minute after it was killed [reconnect]. */
  readonly brainHands: number;
  /** Runs a second that survivors take up from a dead brain [brains]. */
  readonly recoveredRuns: number;
  /** Share of what was measured that is planned with. */
  readonly share: number;
}

/** As measured. */
export const MEASURED: CapacityInputs = {
  brainSteps: 3800,
  postgresSteps: 3300,
  stepBytes: 2633,
  redisCommands: 33_000,
  stepCommands: 13,
  brainHands: 10_000,
  recoveredRuns: 200,
  share: 0.5,
};

/** A fleet, and how busy it is. */
export interface FleetPlan {
  readonly hands: number;
  /** Share of the hands that a run works with at a time. */
  readonly busy: number;
  /** Seconds that a step takes, with its model and its command. */
  readonly stepSeconds: number;
}

/** What a fleet needs. */
export interface FleetNeeds {
  readonly steps: number;
  readonly brains: number;
  readonly shards: number;
  readonly redises: number;
  readonly gigabytesPerDay: number;
  /** Seconds until the runs of one dead brain are driven again. */
  readonly recoverySeconds: number;
}

/** Steps a second, and how many brains, shards with a PostgreSQL each, and servers of Redis carry them. */
export function needsOf({ hands, busy, stepSeconds }: FleetPlan, inputs: CapacityInputs = MEASURED): FleetNeeds {
  const runs = hands * busy;
  const steps = runs / stepSeconds;
  const atShare = (capacity: number, load: number): number => Math.max(1, Math.ceil(load / (capacity * inputs.share)));
  // One brain more than needed: the others carry what a dead one leaves.
  const brains = Math.max(atShare(inputs.brainSteps, steps), Math.ceil(hands / inputs.brainHands)) + 1;
  return {
    steps,
    brains,
    shards: atShare(inputs.postgresSteps, steps),
    redises: atShare(inputs.redisCommands, steps * inputs.stepCommands),
    gigabytesPerDay: (steps * inputs.stepBytes * 86_400) / 1e9,
    recoverySeconds: runs / brains / inputs.recoveredRuns,
  };
}

const PLANS: readonly FleetPlan[] = [1000, 10_000, 100_000, 1_000_000].flatMap((hands) => [
  { hands, busy: 0.01, stepSeconds: 5 },
  { hands, busy: 0.1, stepSeconds: 5 },
]);

/** The plans of the page, with what each needs. */
export function capacityTable(inputs: CapacityInputs = MEASURED): Table {
  return [
    ["hands", "busy", "steps a second", "brains", "PostgreSQL", "Redis", "GB a day", "seconds to recover a brain"],
    ...PLANS.map((plan) => {
      const needs = needsOf(plan, inputs);
      return [
        figure(plan.hands),
        `${plan.busy * 100} %`,
        figure(needs.steps),
        figure(needs.brains),
        figure(needs.shards),
        figure(needs.redises),
        figure(needs.gigabytesPerDay),
        figure(needs.recoverySeconds),
      ].map((cell) => cell.replace(/(\.\d*?)0+$/u, "$1").replace(/\.$/u, ""));
    }),
  ];
}

/** What fleets need. */
export const capacity: Figure = {
  name: "capacity",
  title: "Capacity",
  method: `What fleets of hands need, computed from the figures above at ${MEASURED.share * 100} % of what was measured; [capacity](../explanation/capacity.md) says how to read it.`,
  measure: async () => ({ tables: [capacityTable()], goals: [] }),
};
