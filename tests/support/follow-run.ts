import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Event, JsonObject } from "@vidro/core";
import type { LinkHarness } from "./link-harness.ts";
import { assertOutcomes } from "./outcomes.ts";
import { processesIn } from "./processes.ts";

/** What came of one run. */
export interface RunRecord {
  readonly entries: readonly Entry[];
  /** Marks in the host's file, in their order. */
  readonly effects: readonly string[];
  readonly unknown: number;
}

/**
 * Follows a run to its end through whatever happens to the brain, and answers what it asks: an unknown outcome with
 * `continue`. After each entry, and each piece of output, `passed` is told and waited for.
 */
export async function followRun(
  stand: LinkHarness,
  run: string,
  passed: () => Promise<void> = async () => undefined,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    try {
      const response = await stand.ask(`/v1/runs/${run}/events?after=${entries.at(-1)?.seq ?? 0}`);
      for await (const item of items(response)) {
        const { event } = item;
        if (item["seq"] !== undefined && event !== undefined) entries.push(item as unknown as Entry);
        await answered(stand, run, item);
        if (!JSON.stringify(item).includes("model.delta")) await passed();
      }
    } catch (thrown) {
      // Only a brain that is gone is foreseen.
      if (!(thrown instanceof TypeError)) throw thrown;
    }
    if (isEnd(entries.at(-1)?.event)) return entries;
    await new Promise(setImmediate);
  }
}

async function* items(response: Response): AsyncGenerator<JsonObject, void, undefined> {
  assert.equal(response.status, 200);
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as JsonObject;
  }
}

async function answered(stand: LinkHarness, run: string, { event }: JsonObject): Promise<void> {
  const { type, id, about } = (event ?? {}) as { type?: string; id?: string; about?: { kind: string } };
  if (type !== "question.asked") return;
  const answer = about?.kind === "unknown" ? "continue" : "yes";
  const { status } = await stand.ask(`/v1/runs/${run}/answers`, { question: id ?? "", answer });
  // A conflict: another client answered, or it was answered before the brain went down.
  assert.ok(status === 200 || status === 409, `answered with ${status}`);
}

const isEnd = (event: Event | undefined): boolean =>
  event !== undefined && ["run.finished", "run.failed", "run.aborted"].includes(event.type);

/** Each effect at most once, each finished one exactly once, a whole journal, a good end, and nothing left running. */
export function assertEffectsOnce(stand: LinkHarness, entries: readonly Entry[], file: string): RunRecord {
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, index) => index + 1),
  );
  assertOutcomes(entries);
  const last = entries.at(-1)?.event;
  assert.equal(last?.type, "run.finished", JSON.stringify(last));
  const path = join(stand.host.workspace, file);
  const effects = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  assert.equal(new Set(effects).size, effects.length, `an effect was doubled: ${effects.join(" ")}`);
  const steps = new Map<string, string>();
  let unknown = 0;
  for (const { event } of entries) {
    if (event.type === "action.started") {
      const args = event.action.input["args"] as readonly string[] | undefined;
      if (args?.[0] === "mark") steps.set(event.action.id, args[2] ?? "");
    }
    if (event.type === "action.unknown") unknown += 1;
    const step = event.type === "action.finished" ? steps.get(event.action) : undefined;
    if (step !== undefined) assert.ok(effects.includes(step), `${step} is lost`);
    if (event.type === "action.failed") assert.fail(JSON.stringify(event));
  }
  assert.deepEqual(processesIn(stand.host.workspace), [], "no process is left behind");
  return { entries, effects, unknown };
}
