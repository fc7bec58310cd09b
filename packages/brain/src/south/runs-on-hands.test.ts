import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Entry, Event, JsonObject, ModelReply } from "@vidro/core";
import { scriptedModel } from "../../../../tests/support/scenario.ts";
import { finishRun, sweep } from "../../../../tests/support/local-runs.ts";
import type { Runs } from "../run/runs.ts";
import { BareLink, Landscape } from "./hosts.fixture.ts";

const said = (text: string, input?: JsonObject): ModelReply => ({
  model: "scripted",
  text,
  calls: input === undefined ? [] : [{ id: "c1", tool: "shell", input }],
  usage: { inputTokens: 1, outputTokens: 1 },
});
const shell = (command: string, more: JsonObject = {}): ModelReply => said("", { command, access: "host", ...more });
/** Works until it is told to go on, and writes a line each time it starts. */
const SLOW = "echo x >> effects; until [ -e go ]; do sleep 0.02; done; cat effects";

const typesOf = (entries: readonly Entry[]): string[] => entries.map(({ event }) => event.type);

function eventOf<Type extends Event["type"]>(entries: readonly Entry[], type: Type): Extract<Event, { type: Type }> {
  const found = entries.find(({ event }) => event.type === type)?.event;
  assert.ok(found !== undefined, `no ${type} in ${typesOf(entries).join(", ")}`);
  return found as Extract<Event, { type: Type }>;
}

async function until(runs: Runs, run: string, type: Event["type"]): Promise<void> {
  for await (const followed of runs.follow(run)) if ("entry" in followed && followed.entry.event.type === type) return;
  throw new Error(`the run ended without ${type}`);
}

test("004-25 a run whose hand is cut off waits, and goes on with the one outcome when the hand is back", async () => {
  await using land = new Landscape();
  const { hands, store } = await land.register();
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  const attached = await hands.attach(description, link);
  const runs = land.runs(store, hands, scriptedModel([shell(SLOW), said("done")]));
  const { run } = await runs.start({ task: "x", workspace: "", hand: hands.select("web1", ANA) });
  await link.ordered;
  attached.detach();
  link.cut();
  await until(runs, run.id, "heal.tried");
  writeFileSync(join(hand.workspace, "go"), "");
  const next = new BareLink(hand);
  await hands.attach(description, next);
  const entries = await finishRun(runs, run.id, []);
  const { outcome } = eventOf(entries, "action.finished");
  assert.ok(outcome.kind === "process");
  assert.equal(outcome.stdout.text, "x\n", "it began once");
  assert.equal(eventOf(entries, "run.started").hand, description.id);
  assert.equal(next.acknowledged.length, 1);
});

test("a brain that goes down leaves the work to its host, and the next one finds the outcome", async () => {
  await using land = new Landscape();
  const first = await land.register();
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  await first.hands.attach(description, link);
  const model = scriptedModel([shell(SLOW), said("done")]);
  const before = land.runs(first.store, first.hands, model);
  const { run } = await before.start({ task: "x", workspace: "", hand: description.id });
  await link.ordered;
  await before.close();
  await first.hands.close();
  await first.store.journal.close();

  const second = await land.register();
  const runs = land.runs(second.store, second.hands, model);
  assert.equal((await sweep(runs)).resumed, 1);
  writeFileSync(join(hand.workspace, "go"), "");
  await second.hands.attach(description, new BareLink(hand));
  const entries = await finishRun(runs, run.id, []);
  assert.equal(readFileSync(join(hand.workspace, "effects"), "utf8"), "x\n");
  assert.equal(typesOf(entries).at(-1), "run.finished");
});

test("F8 aborting a run ends its command on the other machine first", async () => {
  await using land = new Landscape();
  const { hands, store } = await land.register();
  const { description, hand } = await land.host("web1");
  await hands.attach(description, new BareLink(hand));
  const runs = land.runs(store, hands, scriptedModel([shell("echo up; sleep 300"), said("done")]));
  const { run } = await runs.start({ task: "x", workspace: "", hand: description.id });
  for await (const followed of runs.follow(run.id)) if ("live" in followed) break;
  await runs.abort(run.id, "enough");
  const entries = await finishRun(runs, run.id, []);
  assert.deepEqual(typesOf(entries).slice(-2), ["action.finished", "run.aborted"]);
});

test("G3 a hand that is revoked at work leaves an unknown outcome, and the run asks a person", async () => {
  await using land = new Landscape();
  const { hands, store } = await land.register();
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  const attached = await hands.attach(description, link);
  const runs = land.runs(store, hands, scriptedModel([shell(SLOW), said("done")]));
  const { run } = await runs.start({ task: "x", workspace: "", hand: description.id });
  await link.ordered;
  await hands.revoke(description.id, "Stolen.");
  attached.detach();
  const entries = await finishRun(runs, run.id, []);
  assert.equal(eventOf(entries, "action.unknown").fault.code, "OUTCOME_UNKNOWN");
  assert.equal(eventOf(entries, "question.asked").about.kind, "unknown");
  writeFileSync(join(hand.workspace, "go"), "");
});

test("G3 what was ordered before the brain went down is unknown when its hand is in quarantine afterwards", async () => {
  await using land = new Landscape();
  const first = await land.register();
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  await first.hands.attach(description, link);
  const model = scriptedModel([shell(SLOW), said("done")]);
  const before = land.runs(first.store, first.hands, model);
  const { run } = await before.start({ task: "x", workspace: "", hand: description.id });
  await link.ordered;
  await before.close();
  await first.hands.quarantine(description.id, "Odd.");
  await first.hands.close();
  await first.store.journal.close();

  const second = await land.register();
  await second.hands.attach(description, new BareLink(hand));
  const runs = land.runs(second.store, second.hands, model);
  await sweep(runs);
  const entries = await finishRun(runs, run.id, []);
  assert.match(eventOf(entries, "action.unknown").fault.message, /ordered and may have been carried out/);
});

test("a hand in quarantine refuses what is new by name, and the model is told", async () => {
  await using land = new Landscape();
  const { hands, store } = await land.register();
  const { description, hand } = await land.host("web1");
  await hands.attach(description, new BareLink(hand));
  await hands.quarantine(description.id, "Odd.");
  const model = scriptedModel([shell("touch done"), said("It is not allowed.")]);
  const runs = land.runs(store, hands, model);
  const { run } = await runs.start({ task: "x", workspace: "", hand: description.id });
  const entries = await finishRun(runs, run.id, []);
  assert.equal(eventOf(entries, "action.failed").fault.code, "HAND_QUARANTINED");
  assert.equal(existsSync(join(hand.workspace, "done")), false);
});

test("a run works with several hands, and the model says in a field which of them does it", async () => {
  await using land = new Landscape();
  const { hands, store } = await land.register();
  const hosts = [await land.host("web1", { tags: ["web"] }), await land.host("web2", { tags: ["web"] })];
  for (const { description, hand } of hosts) await hands.attach(description, new BareLink(hand));
  const model = scriptedModel([
    shell("pwd > one", { hand: "web1" }),
    shell("pwd > two", { hand: "web2" }),
    shell("pwd > three"),
    said("done"),
  ]);
  const runs = land.runs(store, hands, model);
  const { run } = await runs.start({ task: "x", workspace: "", hand: hands.select("tag:web", ANA) });
  const entries = await finishRun(runs, run.id, []);
  const left = hosts.map(({ hand }) =>
    ["one", "two", "three"].filter((name) => existsSync(join(hand.workspace, name))),
  );
  assert.deepEqual(left, [["one"], ["two"]]);
  assert.match(eventOf(entries, "action.failed").fault.message, /Say where: "hand" is one of web1, web2/);
});

const ANA = { owner: "ana", admin: false };
