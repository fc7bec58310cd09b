import type { Brain } from "@vidro/brain";
import { faultLog } from "../program/log.ts";
import { commandConfig, homeFolder } from "../program/settings.ts";

/** Does some work with the brain of this user's home, which is closed afterwards whatever happens. */
export async function withBrain<Result>(work: (brain: Brain) => Promise<Result>): Promise<Result> {
  const home = homeFolder();
  // Loaded here and not above: help, versions and slips of the pen need none of it.
  const { openBrain } = await import("@vidro/brain");
  const brain = await openBrain({ home, config: commandConfig(), report: faultLog(home) });
  try {
    return await work(brain);
  } finally {
    await brain.close();
  }
}
