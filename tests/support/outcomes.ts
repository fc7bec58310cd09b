import assert from "node:assert/strict";
import { isTerminal } from "@vidro/core";
import type { Entry, Event, JsonObject, Model } from "@vidro/core";
import type { Runs } from "../../packages/brain/src/run/runs.ts";
import { scriptedModel } from "./scenario.ts";

/* What every journal has to hold about its actions. */

const ENDS: ReadonlySet<string> = new Set(["action.finished", "action.failed", "action.unknown"]);

/**
 * Every action that was started has one outcome before anything else is started and before its run ends; only an unknown
 * one may be followed by the truth.
 */
export function assertOutcomes(entries: readonly Entry[], where = ""): void {
  let open: string | undefined;
  let unknown: string | undefined;
  for (const { seq, event } of entries) {
    const at = `${where} entry ${seq}: ${JSON.stringify(event)}`;
    if (event.type === "action.started" || isTerminal(event)) assert.equal(open, undefined, `no outcome before ${at}`);
    if (event.type === "action.started") open = event.action.id;
    const ended = ENDS.has(event.type) && "action" in event ? event.action : undefined;
    // What is refused before it starts fails as well.
    if (ended === undefined || (event.type === "action.failed" && open === undefined && unknown === undefined))
      continue;
    assert.ok(ended === open || (ended === unknown && event.type !== "action.unknown"), `a second outcome in ${at}`);
    unknown = event.type === "action.unknown" ? open : undefined;
    open = undefined;
  }
}

/** The types of the events that say what became of actions and of the run. */
export function outcomeTypes(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(({ event: { type } }) => (ENDS.has(type) || type.startsWith("run.") ? [type] : [])).slice(1);
}

/** A model that calls one tool once and then says so. */
export function modelThatCalls(tool: string, input: JsonObject): Model {
  const usage = { inputTokens: 1, outputTokens: 1 };
  return scriptedModel([
    { model: "scripted", text: "", calls: [{ id: "c1", tool, input }], usage },
    { model: "scripted", text: "That was it.", calls: [], usage },
  ]);
}

/** Follows a run until it has an event of a type, and gives that. */
export async function waitForEvent<Type extends Event["type"]>(
  runs: Runs,
  run: string,
  type: Type,
): Promise<Extract<Event, { type: Type }>> {
  for await (const followed of runs.follow(run))
    if ("entry" in followed && followed.entry.event.type === type)
      return followed.entry.event as Extract<Event, { type: Type }>;
  throw new Error(`The run ended without ${type}.`);
}

/** All entries of a run that is over. */
export async function entriesOf(runs: Runs, run: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const followed of runs.follow(run)) if ("entry" in followed) entries.push(followed.entry);
  return entries;
}
