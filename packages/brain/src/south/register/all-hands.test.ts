import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Hand } from "@vidro/core";
import { AllHands } from "./all-hands.ts";
import { BareLink, Landscape } from "../hosts.fixture.ts";

const ANA = { owner: "ana", admin: false };

async function allOf(land: Landscape, local: () => Promise<Hand>, hasLocal = true) {
  const { hands: far } = await land.register();
  const all = new AllHands({ far, local, hasLocal, workspace: "/srv", version: "1.2.3", now: Date.now });
  await all.look();
  return { far, all };
}

test("this machine's hand is listed and counted with the others, and works together with them", async () => {
  await using land = new Landscape();
  const [own, web] = [await land.host("own"), await land.host("web1")];
  const { far, all } = await allOf(land, async () => own.hand);
  const attached = await far.attach(web.card, new BareLink(web.hand));
  assert.deepEqual(
    all.list(ANA).map(({ id, state }) => [id, state]),
    [
      ["local", "ok"],
      [web.card.id, "ok"],
    ],
  );
  assert.equal(all.select("web1, local", ANA), `local,${web.card.id}`);
  const command = (await all.tools(`local,${web.card.id}`)).find(({ name }) => name === "command");
  assert.match(JSON.stringify(command?.parameters), /"enum":\["local","web1"\]/);
  assert.deepEqual([all.count(), all.health], [{ ok: 2, degraded: 0, down: 0 }, "ok"]);
  attached.detach();
  assert.deepEqual([all.count(), all.health], [{ ok: 1, degraded: 0, down: 1 }, "ok"]);
});

test("a brain that lacks the hand of its own machine is degraded, and so is one whose hands are all away", async () => {
  await using land = new Landscape();
  const gone = (): Promise<Hand> => Promise.reject(new Fault("NOT_FOUND", "The folder is gone."));
  const broken = await allOf(land, gone);
  assert.deepEqual([broken.all.count(), broken.all.health], [{ ok: 0, degraded: 0, down: 1 }, "degraded"]);
  const { far, all } = await allOf(land, gone, false);
  assert.deepEqual([all.list(ANA), all.count(), all.health], [[], { ok: 0, degraded: 0, down: 0 }, "ok"]);
  const { card, hand } = await land.host("web1");
  const attached = await far.attach(card, new BareLink(hand));
  assert.equal(all.health, "ok");
  attached.detach();
  assert.equal(all.health, "degraded");
});

test("the hand of the brain's own machine is not barred", async () => {
  await using land = new Landscape();
  const { hand } = await land.host("own");
  const { all } = await allOf(land, async () => hand);
  await assert.rejects(all.revoke("local", { owner: "root", admin: true }, "x"), { code: "BAD_REQUEST" });
});

test("without a hand of its own, a brain offers the tools of the hands that the asker may use, each once", async () => {
  await using land = new Landscape();
  const none = (): Promise<Hand> => Promise.reject(new Fault("HAND_UNAVAILABLE"));
  const { far, all } = await allOf(land, none, false);
  assert.deepEqual(await all.catalog(ANA), []);
  const special = (name: string) => ({ name, description: name, parameters: {}, idempotent: true });
  const [one, two] = [
    await land.host("web1"),
    await land.host("web2", { tools: [special("deploy"), special("look")] }),
  ];
  const bens = await land.host("web3", { owner: "ben", tools: [special("secret")] });
  for (const { card, hand } of [one, two, bens]) await far.attach(card, new BareLink(hand));
  await far.attach({ ...one.card, tools: [special("look")] }, new BareLink(one.hand));
  assert.deepEqual(
    (await all.catalog(ANA)).map(({ name }) => name),
    ["look", "deploy"],
  );
  await far.revoke(two.card.id, "It is over.");
  assert.deepEqual(
    (await all.catalog(ANA)).map(({ name }) => name),
    ["look"],
  );
});
