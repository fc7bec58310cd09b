import assert from "node:assert/strict";
import { test } from "node:test";
import { directTask } from "@vidro/core/run";
import { startFleet } from "../../../tests/support/fleet.ts";
import { Vidro } from "./client.ts";

test("hands are listed, found, chosen, barred and released, and what they tell is read", async (t) => {
  const brain = await startFleet(t);
  const { description } = await brain.host("web1", { tags: ["web"] });
  const { hands } = new Vidro({ url: brain.url, token: await brain.token("root", "*"), retries: 0 });
  brain.telemetry.take(description.id, { id: "1", payload: { cpu: 0.5 }, at: 1000 });
  const [local, web1] = await hands.list();
  assert.deepEqual([local?.id, local?.gateway, web1?.id], ["local", "local", description.id]);
  assert.deepEqual(await hands.list({ select: "tag:web" }), [web1]);
  const found = await hands.find("web1");
  assert.deepEqual(found, { ...web1, lastSeenAt: found.lastSeenAt, telemetry: { at: 1000, payload: { cpu: 0.5 } } });
  assert.deepEqual(await hands.telemetry("web1", { seconds: 60 }), [{ at: 1000, payload: { cpu: 0.5 } }]);
  const odd = await hands.quarantine("web1", { why: "Odd." });
  assert.deepEqual([odd.state, odd.barred, odd.why], ["degraded", "quarantined", "Odd."]);
  assert.equal((await hands.release("web1")).state, "ok");
  assert.equal((await hands.revoke("web1")).barred, "revoked");
  await assert.rejects(hands.find("nobody"), { code: "NOT_FOUND" });
});

test("a run and a conversation work on the hand that they name", async (t) => {
  const brain = await startFleet(t);
  const { hand } = await brain.host("web1");
  const vidro = new Vidro({ url: brain.url, token: await brain.token("ana"), retries: 0 });
  const run = await vidro.run(directTask(["pwd"]), { agent: "direct", hand: "web1" });
  assert.equal(await run.result(), `${hand.workspace}\n`);
  const talk = await vidro.conversations.create({ hand: "web1" });
  const told = await talk.run("where am I?");
  assert.equal(await told.result(), `The working folder is ${hand.workspace}.`);
});
