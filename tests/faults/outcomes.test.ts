import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { Entry, JsonObject } from "@vidro/core";
import type { LocalHandOptions } from "@vidro/hands";
import { openStore } from "../../packages/brain/src/stores/stores.ts";
import { defineTool } from "../../packages/hands/src/tools/tool.ts";
import { ProcessLife } from "../support/simulated-crash.ts";
import { markTool } from "../support/in-process-links.ts";
import { assertOutcomes, modelThatCalls, outcomeTypes } from "../support/outcomes.ts";
import { ForeignAgent, helloOf, SouthboundHarness } from "../support/southbound-harness.ts";
import { ALLOW_ALL } from "../support/tcp-hand.ts";
import { finishRun, openHand, openRuns, temporaryFolder } from "../support/local-runs.ts";

/* What an answer to a second order of an action is worth. */

const otherMark = defineTool({
  ...markTool,
  parameters: { ...markTool.parameters, required: ["n", "why"], properties: { n: { type: "string" }, why: {} } },
} as unknown as typeof markTool);
const denied = { decision: "deny", rule: "new-rule", class: "code-exec", reason: "Not any more." } as const;

/** How a hand may be another one when the brain orders again. */
const CHANGES: { readonly [what: string]: Partial<LocalHandOptions> } = {
  "its tool is gone": { tools: [] },
  "its tool takes other arguments": { tools: [otherMark] },
  "its policy denies it": { policy: { version: "2", judge: () => denied } },
};

/** A brain dies at a point of the hand's work, and the next one finds another version of the hand. */
async function lived(
  t: TestContext,
  point: "after-started" | "after-finished",
  change: Partial<LocalHandOptions>,
): Promise<{ readonly entries: readonly Entry[]; readonly marks: string }> {
  const folder = temporaryFolder(t);
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const { journal } = await openStore("memory", "");
  const model = modelThatCalls("mark", { n: 7 });
  const life = new ProcessLife({ at: "hand", nth: 1, point });
  const before = await openHand(folder, workspace, { policy: ALLOW_ALL, tools: [markTool], probe: life.probe });
  const first = openRuns({ journal: life.journal(journal), model, hand: life.hand(before) });
  const { run } = await first.start({ task: "mark it", workspace });
  await life.ended;
  const hand = await openHand(folder, workspace, { policy: ALLOW_ALL, tools: [markTool], ...change });
  t.after(() => hand.close());
  const runs = openRuns({ journal, model, hand });
  await runs.resume(run.id);
  const entries = await finishRun(runs, run.id, []);
  const file = join(workspace, "marks");
  return { entries, marks: existsSync(file) ? readFileSync(file, "utf8") : "" };
}

for (const [what, change] of Object.entries(CHANGES)) {
  test(`F6 an action that was done is finished when it is ordered again and ${what}`, async (t) => {
    const { entries, marks } = await lived(t, "after-finished", change);
    assert.deepEqual([outcomeTypes(entries), marks], [["action.finished", "run.finished"], "7\n"]);
    assertOutcomes(entries);
  });

  test(`G3 an action that had begun is unknown when it is ordered again and ${what}`, async (t) => {
    const { entries } = await lived(t, "after-started", change);
    assert.deepEqual(outcomeTypes(entries), ["action.unknown", "run.finished"]);
    assertOutcomes(entries);
  });
}

const order = { command: "make", args: [] };

/** A foreign hand gets an order, is cut off, and answers the same order with this when it is back. */
async function reordered(t: TestContext, reply: JsonObject): Promise<readonly Entry[]> {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const greeted = async (): Promise<ForeignAgent> => {
    const client = await ForeignAgent.open(identity);
    await client.ask(helloOf(identity));
    return client;
  };
  const first = await greeted();
  const hand = await south.hands.at(identity.agentId);
  const { journal } = await openStore("memory", "");
  const runs = openRuns({ journal, model: modelThatCalls("command", order), hand });
  const { run } = await runs.start({ task: "make it", workspace: "." });
  const finished = finishRun(runs, run.id, ["yes"]);
  const asked = await first.next();
  first.socket.terminate();
  const second = await greeted();
  const again = await second.next();
  assert.deepEqual([again["method"], again["action_id"]], ["command.exec", asked["action_id"]]);
  second.say({ action_id: asked["action_id"] ?? "", ...reply });
  const entries = await finished;
  assertOutcomes(entries);
  second.socket.terminate();
  return entries;
}

const REPLIES: readonly (readonly [string, JsonObject, string])[] = [
  ["refused for its arguments", { ok: false, code: "BAD_ARGUMENTS", error: "no" }, "action.unknown"],
  ["refused by policy", { ok: false, code: "POLICY_DENIED", error: "no" }, "action.unknown"],
  ["refused because the disk is full", { ok: false, code: "LEDGER_UNWRITABLE", error: "no" }, "action.unknown"],
  ["refused for its age", { ok: false, code: "ACTION_EXPIRED", error: "no" }, "action.unknown"],
  ["refused for its size", { ok: false, code: "PAYLOAD_TOO_LARGE", error: "no" }, "action.unknown"],
  ["answered without a word", { result: 1 }, "action.unknown"],
  ["refused by the ledger", { ok: false, code: "POLICY_DENIED", error: "no", settled: true }, "action.failed"],
  ["done", { ok: true, exit_code: 0, stdout: "made" }, "action.finished"],
];

for (const [what, reply, outcome] of REPLIES)
  test(`F18 an order that is given again after a cut and ${what} gives ${outcome}`, async (t) => {
    assert.deepEqual(outcomeTypes(await reordered(t, reply)), [outcome, "run.finished"]);
  });
