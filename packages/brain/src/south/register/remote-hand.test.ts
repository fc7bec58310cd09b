import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Action, ActionEnd, FaultReport, Hand, HandEvent, Order } from "@vidro/core";
import { BareLink, Landscape } from "../hosts.fixture.ts";
import { RemoteHand } from "./remote-hand.ts";

const NEVER = new AbortController().signal;

function act(id: string, tool: string, input: Action["input"] = {}): Action {
  return { id, tool, input, callId: "c" };
}

function order(action: Action): Order {
  return { action, epoch: 1, run: "run_1", ttlMs: 60_000 };
}

const shell = (id: string, command: string): Order => order(act(id, "shell", { command, access: "host" }));

async function performed(hand: Hand, given: Order, signal = NEVER): Promise<{ output: string; ended: ActionEnd }> {
  let output = "";
  for await (const event of hand.perform(given, signal)) {
    if (event.type !== "output") return { output, ended: event };
    output += event.chunk;
  }
  throw new Error("No end came.");
}

async function remote(land: Landscape): Promise<{ far: RemoteHand; link: BareLink; hand: Hand }> {
  const { description, hand } = await land.host("web1");
  const far = new RemoteHand(description);
  const link = new BareLink(hand);
  far.attach(description, link);
  return { far, link, hand };
}

test("an order goes through the link, its output is live, and its end is the hand's", async () => {
  await using land = new Landscape();
  const { far } = await remote(land);
  const judged = await far.judge(act("act_1", "command", { command: "echo", args: ["hello"] }));
  assert.ok("verdict" in judged && judged.verdict.decision === "allow");
  const { output, ended } = await performed(far, order(act("act_1", "command", { command: "echo", args: ["hello"] })));
  assert.equal(output, "hello\n");
  assert.ok(ended.type === "finished" && ended.outcome.kind === "process" && ended.outcome.exitCode === 0);
});

test("a hand that is away, revoked or in quarantine says so by name, and nothing is done", async () => {
  await using land = new Landscape();
  const { far, link } = await remote(land);
  const given = shell("act_1", "touch done");
  const codes: string[] = [];
  const look = async (): Promise<void> => {
    const { ended } = await performed(far, given);
    codes.push(((await far.judge(given.action)) as FaultReport).code, ended.type === "failed" ? ended.fault.code : "");
  };
  far.bar("quarantined");
  await look();
  far.bar("revoked");
  await look();
  far.bar(undefined);
  far.detach(link);
  await look();
  const [quarantined, revoked, away] = ["HAND_QUARANTINED", "HAND_REVOKED", "HAND_UNAVAILABLE"];
  assert.deepEqual(codes, [quarantined, quarantined, revoked, revoked, away, away]);
  assert.equal(existsSync(join(far.workspace, "done")), false);
});

test("an outcome that is safe here is told to the hand at once, or when it is back", async () => {
  await using land = new Landscape();
  const { far, link, hand } = await remote(land);
  await far.acknowledge("act_1");
  far.detach(link);
  await far.acknowledge("act_2");
  await far.acknowledge("act_3");
  const next = new BareLink(hand);
  far.attach(far.description, next);
  far.detach(next);
  const third = new BareLink(hand);
  far.attach(far.description, third);
  assert.deepEqual([link.acknowledged, next.acknowledged, third.acknowledged], [["act_1"], ["act_2", "act_3"], []]);
});

test("F8 an abort passes on: the hand ends the work, and how it ended is still awaited", async () => {
  await using land = new Landscape();
  const { far } = await remote(land);
  const stop = new AbortController();
  const given = shell("act_1", "echo up; sleep 300");
  let ended: HandEvent | undefined;
  for await (const event of far.perform(given, stop.signal)) {
    if (event.type === "output") stop.abort(new Fault("CONFLICT", "Enough."));
    ended = event;
  }
  assert.ok(ended?.type === "finished" && ended.outcome.kind === "process");
  assert.notEqual(ended.outcome.signal, null);
  assert.deepEqual((await performed(far, given)).ended, ended, "the ledger has the same end");
});

test("a brain that goes down leaves the work on other machines alone", async () => {
  await using land = new Landscape();
  const { far, link, hand } = await remote(land);
  const stop = new AbortController();
  const command = "until [ -e go ]; do sleep 0.02; done; echo one >> effects; echo over";
  const working = performed(far, shell("act_1", command), stop.signal);
  await link.ordered;
  stop.abort(new Fault("SHUTTING_DOWN"));
  const { ended } = await working;
  assert.ok(ended.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");

  const next = new RemoteHand(far.description);
  next.attach(far.description, new BareLink(hand));
  const found = performed(next, shell("act_1", command));
  await performed(next, shell("act_2", "touch go"));
  const { ended: end } = await found;
  assert.ok(end.type === "finished" && end.outcome.kind === "process");
  assert.equal(end.outcome.stdout.text, "over\n");
});

test("a link that is cut ends the waiting, and the same order on the next link gets the one outcome", async () => {
  await using land = new Landscape();
  const { far, link, hand } = await remote(land);
  const command = "echo x >> effects; until [ -e go ]; do sleep 0.02; done; wc -l < effects";
  const working = performed(far, shell("act_1", command));
  await link.ordered;
  far.detach(link);
  link.cut();
  const { ended } = await working;
  assert.ok(ended.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");
  far.attach(far.description, new BareLink(hand));
  const found = performed(far, shell("act_1", command));
  await performed(far, shell("act_2", "touch go"));
  const { ended: end } = await found;
  assert.ok(end.type === "finished" && end.outcome.kind === "process");
  assert.equal(end.outcome.stdout.text.trim(), "1", "one effect");
});

test("a hand that is closed tells its link why", async () => {
  await using land = new Landscape();
  const { far, link } = await remote(land);
  await far.close();
  assert.deepEqual(
    link.closes.map(({ code }) => code),
    ["SHUTTING_DOWN"],
  );
});

test("a wait for a hand resolves when it reconnects, and not after the wait was aborted", async () => {
  await using land = new Landscape();
  const { far, link, hand } = await remote(land);
  // Those who waited for the first connection are woken before anybody waits for the next.
  await new Promise(setImmediate);
  let woken = 0;
  const forget = far.watch(() => (woken += 1));
  far.detach(link);
  assert.equal(woken, 0);
  far.attach(far.description, new BareLink(hand));
  await new Promise(setImmediate);
  assert.equal(woken, 1);
  forget();
  far.attach(far.description, new BareLink(hand));
  await new Promise(setImmediate);
  assert.equal(woken, 1);
});
