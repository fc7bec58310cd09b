import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Action, ActionEnd, Bus, Hand, Order } from "@vidro/core";
import { openBus } from "../bus/buses.ts";
import { BareLink, Landscape } from "./hosts.fixture.ts";
import type { HandRegister } from "./register/hand-register.ts";
import { relayHands } from "./relay.ts";

const ANA = { owner: "ana", admin: false };

interface OneBrain {
  readonly hands: HandRegister;
  readonly bus: Bus;
  readonly end: () => void;
}

/** Brains on one store and one bus. */
async function brains(land: Landscape, count: number): Promise<readonly OneBrain[]> {
  const address = `memory:${land.folder}`;
  const made: OneBrain[] = [];
  for (let index = 0; index < count; index += 1) {
    const { hands, store } = await land.register();
    const bus = await openBus(address);
    const report = (thrown: unknown): void => assert.fail(String(thrown));
    made.push({ hands, bus, end: await relayHands({ bus, records: store.records, hands, report }) });
  }
  return made;
}

/** Resolves when a hand is in a state at a brain. */
async function whenState(hands: HandRegister, name: string, state: string): Promise<void> {
  const isThere = (): boolean => hands.list(ANA).some((row) => row.name === name && row.state === state);
  while (!isThere()) await new Promise(setImmediate);
}

function order(id: string, command: string): Order {
  const action: Action = { id, tool: "shell", input: { command, access: "host" }, callId: "c" };
  return { action, epoch: 1, run: "run_1", ttlMs: 60_000 };
}

async function perform(hand: Hand, given: Order, signal = new AbortController().signal) {
  let output = "";
  for await (const event of hand.perform(given, signal)) {
    if (event.type !== "output") return { output, ended: event };
    output += event.chunk;
  }
  throw new Error("No end came.");
}

function codeOf(ended: ActionEnd): string {
  return ended.type === "finished" ? "" : ended.fault.code;
}

test("a run at any brain judges, orders, hears and stops on a hand that is connected to another one", async () => {
  await using land = new Landscape();
  const [one, two] = await brains(land, 2);
  assert.ok(one && two);
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  await one.hands.attach(description, link);
  await whenState(two.hands, "web1", "ok");
  const far = await two.hands.at(description.id);
  const given = order("act_1", "echo hello; echo no >&2");
  const judged = await far.judge(given.action);
  assert.ok("verdict" in judged && judged.verdict.decision === "allow");
  const refused = await far.judge({ ...given.action, tool: "nothing" });
  assert.equal("code" in refused && refused.code, "UNKNOWN_TOOL");
  const { output, ended } = await perform(far, given);
  assert.deepEqual([output.includes("hello\n"), ended.type], [true, "finished"]);
  assert.equal((await perform(far, given)).ended.type, "finished", "the ledger answers the second order");
  await far.acknowledge("act_1");
  while (link.acknowledged.length === 0) await new Promise(setImmediate);
  const stop = new AbortController();
  const stopped = perform(far, order("act_2", "touch begun; sleep 600"), stop.signal);
  while (!existsSync(join(hand.workspace, "begun"))) await new Promise(setImmediate);
  stop.abort();
  assert.notEqual((await stopped).ended.type, "unknown");
  one.end();
  two.end();
});

test("F29: a hand that moves is used where it is, its older connection is closed, and a brain that leaves takes its hands along", async () => {
  await using land = new Landscape();
  const [one, two, three] = await brains(land, 3);
  assert.ok(one && two && three);
  const { description, hand } = await land.host("web1");
  const [old, young] = [new BareLink(hand), new BareLink(hand)];
  const first = await one.hands.attach(description, old);
  await whenState(three.hands, "web1", "ok");
  await two.hands.attach(description, young, first.epoch);
  while (old.closes.length === 0) await new Promise(setImmediate);
  assert.deepEqual(
    old.closes.map(({ code }) => code),
    ["CONFLICT"],
  );
  const far = await three.hands.at(description.id);
  const ordered = perform(far, order("act_1", "sleep 600"));
  await young.ordered;
  two.end();
  assert.equal(codeOf((await ordered).ended), "HAND_UNAVAILABLE");
  await whenState(three.hands, "web1", "down");
  assert.equal(codeOf((await perform(far, order("act_1", "sleep 600"))).ended), "HAND_UNAVAILABLE");
  one.end();
  three.end();
});

test("a message of a program without the brains' key orders nothing", async () => {
  await using land = new Landscape();
  const [one] = await brains(land, 1);
  assert.ok(one);
  const { description, hand } = await land.host("web1");
  const link = new BareLink(hand);
  await one.hands.attach(description, link);
  const stranger = await openBus(`memory:${land.folder}`);
  const { action } = order("act_1", "true");
  const forged = JSON.stringify({ type: "acknowledge", hand: description.id, action: action.id });
  const heard = new Promise<void>((resolve) => one.bus.subscribe(`calls:${one.bus.brain}`, () => resolve()));
  stranger.publish(`calls:${one.bus.brain}`, "0".repeat(64) + forged);
  await heard;
  await new Promise(setImmediate);
  assert.deepEqual(link.acknowledged, []);
  one.end();
});
