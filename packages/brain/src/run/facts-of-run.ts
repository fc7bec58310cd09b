import type { Hand, Model, RunStarted } from "@vidro/core";

/** The facts about where a run works, for a model that reads them: the built-in ones do not. */
export async function factsOfRun(model: Model, hand: Hand, now: number): Promise<Pick<RunStarted, "facts">> {
  if (model.summarises !== true || hand.surroundings === undefined) return {};
  const date = new Date(now).toISOString().slice(0, "2026-12-01".length);
  return { facts: { ...(await hand.surroundings()), date } };
}
