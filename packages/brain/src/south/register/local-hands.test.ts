import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Hand } from "@vidro/core";
import type { HandRegister } from "./hand-register.ts";
import { LocalHands } from "./local-hands.ts";
import { BareLink, Landscape } from "../hosts.fixture.ts";

const ANA = { owner: "ana", admin: false };

/** A register with the hand of this machine. */
async function withLocal(land: Landscape, open: () => Promise<Hand>): Promise<HandRegister> {
  const local = new LocalHands(open);
  await local.show({ workspace: "/srv", version: "1.2.3" });
  return (await land.register(Date.now, local)).hands;
}

test("this machine's hand is listed and counted with the others, and works together with them", async () => {
  await using land = new Landscape();
  const [own, web] = [await land.host("own"), await land.host("web1")];
  const hands = await withLocal(land, async () => own.hand);
  const attached = await hands.attach(web.description, new BareLink(web.hand));
  assert.deepEqual(
    hands.list(ANA).map(({ id, state }) => [id, state]),
    [
      ["local", "ok"],
      [web.description.id, "ok"],
    ],
  );
  assert.equal(hands.select("web1, local", ANA), `local,${web.description.id}`);
  const command = (await hands.tools(`local,${web.description.id}`)).find(({ name }) => name === "command");
  assert.match(JSON.stringify(command?.parameters), /"enum":\["local","web1"\]/);
  assert.deepEqual([hands.count(), hands.health], [{ ok: 2, degraded: 0, down: 0 }, "ok"]);
  attached.detach();
  assert.deepEqual([hands.count(), hands.health], [{ ok: 1, degraded: 0, down: 1 }, "ok"]);
});

test("a brain that lacks the hand of its own machine is degraded, and so is one whose hands are all away", async () => {
  await using land = new Landscape();
  const gone = (): Promise<Hand> => Promise.reject(new Fault("NOT_FOUND", "The folder is gone."));
  const broken = await withLocal(land, gone);
  assert.deepEqual([broken.count(), broken.health], [{ ok: 0, degraded: 0, down: 1 }, "degraded"]);
  const { hands } = await land.register();
  assert.deepEqual([hands.list(ANA), hands.count(), hands.health], [[], { ok: 0, degraded: 0, down: 0 }, "ok"]);
  const { description, hand } = await land.host("web1");
  const attached = await hands.attach(description, new BareLink(hand));
  assert.equal(hands.health, "ok");
  attached.detach();
  assert.equal(hands.health, "degraded");
});

test("the hand of the brain's own machine is not barred", async () => {
  await using land = new Landscape();
  const { hand } = await land.host("own");
  const hands = await withLocal(land, async () => hand);
  await assert.rejects(hands.revoke("local", "x"), { code: "BAD_REQUEST" });
});

test("without a hand of its own, a brain offers the tools of the hands that the asker may use, each once", async () => {
  await using land = new Landscape();
  const { hands } = await land.register();
  assert.deepEqual(await hands.catalog(ANA), []);
  const special = (name: string) => ({ name, description: name, parameters: {}, idempotent: true });
  const [one, two] = [
    await land.host("web1"),
    await land.host("web2", { tools: [special("deploy"), special("look")] }),
  ];
  const bens = await land.host("web3", { owner: "ben", tools: [special("secret")] });
  for (const { description, hand } of [one, two, bens]) await hands.attach(description, new BareLink(hand));
  await hands.attach({ ...one.description, tools: [special("look")] }, new BareLink(one.hand));
  assert.deepEqual(
    (await hands.catalog(ANA)).map(({ name }) => name),
    ["look", "deploy"],
  );
  await hands.revoke(two.description.id, "It is over.");
  assert.deepEqual(
    (await hands.catalog(ANA)).map(({ name }) => name),
    ["look"],
  );
});
