import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { newKeyAndRequest } from "../../packages/hands/src/enrol/csr.ts";
import type { HandIdentity } from "../../packages/hands/src/enrol/hand-state-folder.ts";
import { ForeignAgent, helloOf, JoinedHand, openRefused, SouthboundHarness } from "../support/southbound-harness.ts";

/* Certificates that were copied, renewed too often, or met by a clock that is wrong. */

const LOCAL = { owner: "local", admin: false };
const DAY_MS = 24 * 60 * 60 * 1000;

/** The next certificate of a hand, over the connection that it has. */
async function renewed(client: ForeignAgent, identity: HandIdentity): Promise<HandIdentity> {
  const { key, csr } = newKeyAndRequest(identity.name);
  const reply = await client.ask({ method: "cert.renew", action_id: `r${(count += 1)}`, csr });
  assert.equal(reply["ok"], true, JSON.stringify(reply));
  return { ...identity, key, certificate: textIn(reply, "certificate") ?? "" };
}

let count = 0;

async function greeted(identity: HandIdentity): Promise<ForeignAgent> {
  const client = await ForeignAgent.open(identity);
  assert.equal((await client.ask(helloOf(identity)))["ok"], true);
  return client;
}

async function left(client: ForeignAgent): Promise<void> {
  const closed = once(client.socket, "close");
  client.socket.close();
  await closed;
}

function refused(
  south: SouthboundHarness,
  { ca, key, certificate: cert }: HandIdentity,
): Promise<{ status: number; body: JsonObject }> {
  return openRefused(south.url, { ca, key, cert });
}

function assertLocked(south: SouthboundHarness, identity: HandIdentity): void {
  const { barred, why = "" } = south.hands.find(identity.agentId, LOCAL);
  assert.deepEqual([barred, /copy/.test(why)], ["quarantined", true]);
  const alerts = south.log.filter(({ event }) => event === "hand.certificate_copied");
  assert.equal(alerts.length, 1, "it is alerted, once");
}

test("a copied certificate that comes after the next one locks the hand, which then gets no certificate", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const first = await greeted(identity);
  const next = await renewed(first, identity);
  await left(first);
  const owner = await greeted(next);
  assert.equal((await refused(south, identity)).body["code"], "CERTIFICATE_INVALID");
  assertLocked(south, identity);
  await refused(south, identity);
  assertLocked(south, identity);
  const { csr } = newKeyAndRequest("x");
  const reply = await owner.ask({ method: "cert.renew", action_id: "late", csr });
  assert.equal(reply["code"], "HAND_QUARANTINED");
});

test("a copy that is renewed before its owner comes locks the hand when the owner does", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const thief = await greeted(identity);
  const stolen = await renewed(thief, identity);
  await left(thief);
  await greeted(stolen);
  assert.equal((await refused(south, identity)).body["code"], "CERTIFICATE_INVALID");
  assertLocked(south, identity);
});

test("a certificate whose answer was lost is asked for again, and locks no identity until it is used", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await greeted(identity);
  const lost = await renewed(client, identity);
  const next = await renewed(client, identity);
  await left(client);
  await greeted(next);
  assert.equal(south.hands.find(identity.agentId, LOCAL).barred, undefined);
  const generations = south.log.flatMap(({ generation }) => (generation === undefined ? [] : [generation]));
  assert.deepEqual(generations, [2, 3]);
  await refused(south, lost);
  assertLocked(south, identity);
});

test("a hand gets so many certificates and no more", async (t) => {
  const south = await SouthboundHarness.up(t);
  const identity = await south.enrolled();
  const client = await greeted(identity);
  for (let given = 0; given < SOUTHBOUND_LIMITS.renewBurst; given += 1) await renewed(client, identity);
  const { csr } = newKeyAndRequest("x");
  const reply = await client.ask({ method: "cert.renew", action_id: "more", csr });
  assert.equal(reply["code"], "RATE_LIMITED");
});

for (const [what, aheadMs] of [
  ["behind", -2 * DAY_MS],
  ["ahead", 2 * DAY_MS],
] as const) {
  test(`a brain whose clock is ${what} does not end its hands: they come again`, async (t) => {
    const south = await SouthboundHarness.up(t);
    const identity = await south.enrolled();
    south.aheadMs = aheadMs;
    const joined = await JoinedHand.join(t, south, { identity, waits: false });
    const ended = joined.ended.then((why) => assert.fail(`It ended: ${String(why)}`));
    await Promise.race([joined.tells("down CONNECTION_LOST"), ended]);
    assert.ok(Number(joined.told[0]?.split(" ").at(-1)) >= SOUTHBOUND_LIMITS.passingMs);
    ended.catch(() => undefined);
  });
}
