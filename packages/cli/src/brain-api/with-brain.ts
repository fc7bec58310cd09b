import type { Brain } from "@vidro/brain";
import { Fault } from "@vidro/core";
import { stateFolder } from "../program/home.ts";
import { faultLog } from "../program/log.ts";

/** The folder of all state; BAD_REQUEST when there is no telling where it is. */
export function homeFolder(): string {
  const home = stateFolder(process.env);
  if (home !== undefined) return home;
  throw new Fault(
    "BAD_REQUEST",
    "You have no home folder, so Vidro cannot tell where to keep its state: set VIDRO_HOME.",
  );
}

/** Does some work with the brain of this user's home, which is closed afterwards whatever happens. */
export async function withBrain<Result>(work: (brain: Brain) => Promise<Result>): Promise<Result> {
  const home = homeFolder();
  // Loaded here and not above: help, versions and slips of the pen need none of it.
  const { openBrain } = await import("@vidro/brain");
  const brain = await openBrain({ home, env: process.env, report: faultLog(home) });
  try {
    return await work(brain);
  } finally {
    await brain.close();
  }
}
