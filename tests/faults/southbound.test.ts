import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Action, ActionEnd, Hand } from "@vidro/core";
import { HandStateFolder } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { newKeyAndRequest } from "../../packages/hands/src/enrol/csr.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { ForeignAgent, helloOf, JoinedHand, SouthboundHarness } from "../support/southbound-harness.ts";

/* What becomes of hands on WebSockets when the wire, a brain or a host fails. */

const LOCAL = { owner: "local", admin: false };
const DAY_MS = 24 * 60 * 60 * 1000;
/** Heartbeats that come so often that a test can wait for three to be missed. */
const HURRIED = { heartbeatMs: 100 };

/** A hand whose every byte goes through a wire that can fail. */
async function behindProxy(
  t: TestContext,
  south: SouthboundHarness,
): Promise<{ proxy: FaultProxy; identity: HandIdentity }> {
  const proxy = await new FaultProxy(south.place).open();
  t.after(() => proxy.close());
  const identity = await south.enrolled();
  return { proxy, identity: { ...identity, url: `wss://127.0.0.1:${proxy.port}/southbound` } };
}

let last = 0;

function marking(id = `act_fault_${(last += 1)}`): Action {
  const args = ["-c", `echo ${id} >> marks; echo done`];
  return { id, tool: "command", input: { command: "sh", args }, callId: "c" };
}

/** Orders as the engine does: the same id again while the hand cannot be reached. */
async function done(hand: Hand, action: Action): Promise<ActionEnd> {
  for (;;) {
    for await (const event of hand.perform({ action, run: "run_1", epoch: 1, ttlMs: 60_000 }, NEVER)) {
      if (event.type === "output") continue;
      if (event.type !== "failed" || event.fault.code !== "HAND_UNAVAILABLE") return event;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const NEVER = new AbortController().signal;

function marksIn(folder: string): readonly string[] {
  return readFileSync(join(folder, "marks"), "utf8").trim().split("\n");
}

test("F9: a link that is reset after any number of bytes comes back, and nothing is done twice or lost", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { proxy, identity } = await behindProxy(t, south);
  const { workspace } = await JoinedHand.join(t, south, { identity });
  const hand = await south.hands.at(identity.agentId);
  const ordered: string[] = [];
  for (const direction of ["up", "down"] as const)
    for (let bytes = 0; bytes < 4800; bytes += 151) {
      proxy.cutAfter(direction, bytes);
      const action = marking();
      ordered.push(action.id);
      const ended = await done(hand, action);
      assert.ok(ended.type === "finished" && ended.outcome.kind === "process", `${direction} ${bytes}`);
      assert.equal(ended.outcome.stdout.text, "done\n");
    }
  assert.deepEqual(marksIn(workspace), ordered);
});

test("F10, F11: a link that is dead in silence, both ways or one, is seen by both ends within three heartbeats", async (t) => {
  for (const directions of [["up", "down"], ["up"], ["down"]] as const) {
    const south = await SouthboundHarness.up(t, HURRIED);
    const { proxy, identity } = await behindProxy(t, south);
    const joined = await JoinedHand.join(t, south, { identity, bounds: HURRIED });
    proxy.stall(...directions);
    await joined.tells("down");
    while (south.hands.list(LOCAL)[0]?.state !== "down") await new Promise(setImmediate);
    proxy.heal();
    await joined.tells("up", 2);
    while (south.hands.list(LOCAL)[0]?.state !== "ok") await new Promise(setImmediate);
  }
});

test("F16, F18: what ended while the link was cut is told after it, and ran once", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { proxy, identity } = await behindProxy(t, south);
  const { workspace, told } = await JoinedHand.join(t, south, { identity });
  const hand = await south.hands.at(identity.agentId);
  const args = ["-c", "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo ran >> marks; echo done"];
  const slow = { id: "act_slow", tool: "command", input: { command: "sh", args }, callId: "c" };
  const order = { action: slow, run: "run_1", epoch: 1, ttlMs: 60_000 };
  let ended: ActionEnd | undefined;
  for await (const event of hand.perform(order, NEVER)) {
    if (event.type === "output") proxy.sever();
    else ended = event;
  }
  assert.ok(ended?.type === "failed" && ended.fault.code === "HAND_UNAVAILABLE");
  writeFileSync(join(workspace, "go"), "");
  while (!told.some((word) => word.startsWith("down"))) await new Promise(setImmediate);
  proxy.heal();
  const again = await done(hand, slow);
  assert.ok(again.type === "finished" && again.outcome.kind === "process");
  assert.equal(again.outcome.stdout.text, "begun\ndone\n");
  assert.deepEqual(marksIn(workspace), ["ran"]);
});

test("F20: a session older than one that the hand has seen is refused, also after the hand was started anew", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const first = await JoinedHand.join(t, south, { identity });
  await first.leave();
  await first.state.enterSession(identity.agentId, 1000);
  const again = await HandStateFolder.open(first.state.folder);
  await assert.rejects(again.enterSession(identity.agentId, 999), { code: "STALE_EPOCH" });
  await again.enterSession(identity.agentId, 1000);
  await again.enterSession("another identity", 1);
});

test("F20: our hand leaves a brain whose sessions have gone back", async (t) => {
  const south = await SouthboundHarness.up(t);
  const joined = await JoinedHand.join(t, south);
  await joined.state.enterSession(joined.identity.agentId, 1000);
  await south.restart();
  const end = (await joined.ended) as { code?: string };
  assert.equal(end.code, "STALE_EPOCH");
});

test("F29: of two hands with one identity the newest counts, an alert is written, and the other steps back for long", async (t) => {
  const south = await SouthboundHarness.up(t);
  const first = await JoinedHand.join(t, south);
  const second = await JoinedHand.join(t, south, { identity: first.identity });
  await first.tells("down");
  assert.match(first.told.at(-1) ?? "", /^down CONNECTION_LOST (\d{6,})$/);
  assert.equal(south.log.filter(({ event }) => event === "hand.duplicated").length, 1);
  const hand = await south.hands.at(first.identity.agentId);
  assert.equal((await done(hand, marking())).type, "finished");
  assert.equal(marksIn(second.workspace).length, 1);
  assert.deepEqual(second.told, ["up"]);
});

test("F30: a host that is enrolled again under its name is another hand, and the first one stays what it was", async (t) => {
  const south = await SouthboundHarness.up(t);
  const first = await JoinedHand.join(t, south, { name: "web-1" });
  await south.hands.revoke(first.identity.agentId, "reinstalled");
  await first.ended;
  const second = await JoinedHand.join(t, south, { name: "web-1" });
  assert.notEqual(second.identity.agentId, first.identity.agentId);
  const rows = south.hands.list(LOCAL).map(({ id, name, state, barred }) => ({ id, name, state, barred }));
  assert.deepEqual(rows, [
    { id: first.identity.agentId, name: "web-1", state: "down", barred: "revoked" },
    { id: second.identity.agentId, name: "web-1", state: "ok", barred: undefined },
  ]);
  assert.equal(south.hands.find("web-1", LOCAL).id, second.identity.agentId);
});

test("F28: a host that was off for days comes back by itself, unless it was revoked meanwhile", async (t) => {
  const south = await SouthboundHarness.up(t);
  for (const isRevoked of [false, true]) {
    const identity = await south.enrolled(isRevoked ? "web-2" : "web-1");
    const { key, csr } = newKeyAndRequest("web-1");
    const lapsed = await (await south.authorityAt(() => Date.now() - 3 * DAY_MS)).forHand(identity.agentId, csr);
    const record = await south.records.get("hand-identity", identity.agentId);
    assert.ok(record !== undefined);
    await south.records.put({ ...record, body: { ...record.body, serials: [lapsed.serial] } });
    if (isRevoked) await south.records.put({ ...record, kind: "hand-bar", body: { barred: "revoked", why: "lost" } });
    const old = { ...identity, key, certificate: lapsed.certificate };
    const joined = await JoinedHand.join(t, south, { identity: old, waits: !isRevoked });
    if (isRevoked) assert.equal(((await joined.ended) as { code?: string }).code, "HAND_REVOKED");
    else assert.equal(south.hands.find(identity.agentId, LOCAL).state, "ok");
  }
});

test("a listener that goes down waits for no peer: not for a silent one, and not for one that does not hang up", async (t) => {
  const south = await SouthboundHarness.up(t);
  const silent = connect(south.place);
  await once(silent, "connect");
  const deaf = await ForeignAgent.open(await south.enrolled());
  deaf.socket.pause();
  const began = performance.now();
  await south.down();
  assert.ok(performance.now() - began < SOUTHBOUND_LIMITS.handshakeMs / 2);
  deaf.socket.terminate();
  silent.destroy();
});

test("a brain that goes down and comes back finds its hands again without anybody's help", async (t) => {
  const south = await SouthboundHarness.up(t);
  const joined = await JoinedHand.join(t, south);
  await south.restart();
  await joined.tells("up", 2);
  const hand = await south.hands.at(joined.identity.agentId);
  assert.equal((await done(hand, marking())).type, "finished");
});

test("F29: several who say hello with one identity at the same time are one hand in the end", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const clients = await Promise.all([
    ForeignAgent.open(identity),
    ForeignAgent.open(identity),
    ForeignAgent.open(identity),
  ]);
  const replies = await Promise.all(clients.map((client) => client.ask(helloOf(identity))));
  const welcome = replies.filter(({ ok }) => ok === true);
  assert.ok(welcome.length >= 1);
  for (const reply of replies) assert.ok(reply["ok"] === true || reply["code"] === "CONFLICT");
  assert.equal(south.hands.list(LOCAL).length, 1);
});
