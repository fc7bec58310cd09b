import { randomUUIDv7 } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Fault, redactor } from "@vidro/core";
import type { Hand, Journal } from "@vidro/core";
import { localHand, openPolicy } from "@vidro/hands";
import { thisHolder } from "./holder.ts";
import { liveBus } from "./live.ts";
import { chooseModel } from "./models/choose.ts";
import type { ChosenModel } from "./models/choose.ts";
import { Runs } from "./runs.ts";
import { openStore } from "./stores/stores.ts";

/** Everything that is up when a brain is up. */
export interface Brain {
  readonly runs: Runs;
  readonly journal: Journal;
  /** The model that decides, found when it is first needed. */
  readonly model: () => Promise<ChosenModel>;
  /** The local hand for a workspace. */
  readonly hand: (workspace: string) => Promise<Hand>;
  /** Stops driving, ends every process of the hands, closes the store; open runs go on later. */
  close(): Promise<void>;
}

/** Where a brain lives and what it may know of its surroundings. */
export interface BrainOptions {
  /** Folder of all state, made when it is missing. */
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly store?: "sqlite" | "memory";
  /** Gets our own faults with their stacks. */
  readonly report?: (traceId: string, thrown: unknown) => void;
}

/** Opens the store, and gives what is needed to start, resume and follow runs. */
export async function openBrain(options: BrainOptions): Promise<Brain> {
  const { home, env } = options;
  await mkdir(home, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new Fault("STORE_UNREADABLE", `${home} cannot be made: ${(cause as Error).message}`, { cause });
  });
  const journal = await openStore(options.store ?? "sqlite", join(home, "journal.db"));
  const hands = new Map<string, Promise<Hand>>();
  const hand = (workspace: string): Promise<Hand> => {
    const known = hands.get(workspace) ?? openHand(home, workspace, env);
    hands.set(workspace, known);
    return known;
  };
  let chosen: Promise<ChosenModel> | undefined;
  const model = (): Promise<ChosenModel> => (chosen ??= chooseModel(env));
  const runs = new Runs({
    journal,
    model,
    hand,
    live: liveBus(),
    redactor: redactor(secretsIn(env)),
    now: Date.now,
    chance: Math.random,
    holder: thisHolder(),
    newId: (prefix) => `${prefix}_${randomUUIDv7()}`,
    newActionId: () => `act_${randomUUIDv7()}`,
    report: options.report ?? (() => undefined),
  });
  return {
    runs,
    journal,
    model,
    hand,
    async close() {
      await runs.close();
      await Promise.allSettled([...hands.values()].map(async (opened) => (await opened).close()));
      await journal.close();
    },
  };
}

async function openHand(home: string, workspace: string, env: BrainOptions["env"]): Promise<Hand> {
  const state = join(home, "hand");
  await mkdir(state, { recursive: true, mode: 0o700 });
  const policy = openPolicy({ file: join(home, "policy.json"), workspace, state: home });
  return localHand({ id: "local", workspace, state, reserved: home, policy, env });
}

/** Values of the environment that are secrets by their names. */
function secretsIn(env: BrainOptions["env"]): readonly string[] {
  const telling = /key|token|secret|passw|credential|auth/i;
  return Object.entries(env).flatMap(([name, value]) => (telling.test(name) && value !== undefined ? [value] : []));
}
