import { Fault, TERMINAL_LIMITS, REGISTER_LIMITS } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import type { BrainRuns } from "./brain-api.ts";

/** The run with this id, or with an id that ends so: ids begin alike, and differ at their ends. */
export async function findRun(runs: Pick<BrainRuns, "find" | "list">, given: string): Promise<RunHead> {
  if (given.startsWith("run_")) return runs.find(given);
  if (given.length < TERMINAL_LIMITS.idEndChars) {
    throw new Fault(
      "BAD_REQUEST",
      `${given} is too short: give at least the last ${TERMINAL_LIMITS.idEndChars} characters of a run's id.`,
    );
  }
  const [found, ...others] = await runs.list({ ending: given, limit: REGISTER_LIMITS.namedAtMost + 1 });
  if (found === undefined) throw new Fault("NOT_FOUND", `No run has an id that ends with ${given}.`);
  if (others.length === 0) return found;
  const named = [found, ...others].slice(0, REGISTER_LIMITS.namedAtMost).map((head) => head.id);
  throw new Fault(
    "BAD_REQUEST",
    `Several runs end with ${given}: ${named.join(", ")}${others.length < named.length ? "" : " and others"}. Give more of the id.`,
  );
}

/** The newest run. */
export async function lastRun(runs: Pick<BrainRuns, "list">): Promise<RunHead> {
  const [head] = await runs.list({ limit: 1 });
  if (head === undefined)
    throw new Fault("NOT_FOUND", 'There is no run yet. Start one: vidro run "how much disk is free here?"');
  return head;
}
