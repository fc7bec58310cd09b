import type { Hand, Model, RunStarted } from "@vidro/core";

/** The facts about where a run works, for a model that reads them: the built-in ones do not. */
export async function factsOfRun(model: Model, hand: Hand, now: number): Promise<Pick<RunStarted, "facts">> {
  if (model.summarises !== true || hand.surroundings === undefined) return {};
  const told = await hand.surroundings();
  // A hand that has no words for facts, such as an executor, which tells them with its task.
  if (Object.keys(told).length === 0) return {};
  const date = new Date(now).toISOString().slice(0, "2026-12-01".length);
  return { facts: { ...told, date } };
}
