import assert from "node:assert/strict";
import { test } from "node:test";
import { REGISTER_LIMITS } from "@vidro/core";
import type { Order } from "@vidro/core";
import { recallOf } from "@vidro/core/run";
import { formatWarrant, warrantText } from "@vidro/core/wire/warrant";
import { makeWarrants } from "./warrants.ts";

const ORDER: Order = {
  run: "run_1",
  action: { id: "act_1", callId: "c", tool: "shell", input: { command: "ls" } },
  epoch: 3,
  ttlMs: 60_000,
  approved: "a".repeat(64),
};
const NOW = 1_000_000;

test("an approved order gets a warrant for its hand that expires, signed over what the hand checks", async () => {
  const signed: string[] = [];
  const authority = { sign: (text: string) => (signed.push(text), "5167") };
  const warranted = await makeWarrants(
    async () => authority,
    () => NOW,
  )("hand-a", ORDER);
  const expiresAt = NOW + REGISTER_LIMITS.warrantMs;
  assert.deepEqual(signed, [warrantText({ hand: "hand-a", order: ORDER, expiresAt })]);
  assert.deepEqual(warranted, { ...ORDER, warrant: formatWarrant({ expiresAt, signature: "5167" }) });
});

test("each hand, run, action and approval is signed for by itself", () => {
  const text = (hand: string, more: Partial<Order> = {}): string =>
    warrantText({ hand, order: { ...ORDER, ...more }, expiresAt: NOW });
  const texts = [
    text("hand-a"),
    text("hand-b"),
    text("hand-a", { run: "run_2" }),
    text("hand-a", { action: { ...ORDER.action, id: "act_2" } }),
    text("hand-a", { approved: "b".repeat(64) }),
    warrantText({ hand: "hand-a", order: ORDER, expiresAt: NOW + 1 }),
  ];
  assert.equal(new Set(texts).size, texts.length);
});

test("an order without an approval, a recall, and a brain without an authority sign nothing", async () => {
  const never = makeWarrants(
    () => assert.fail("the authority is not asked"),
    () => NOW,
  );
  const { approved: _, ...plain } = ORDER;
  assert.equal(await never("hand-a", plain), plain);
  const recall = recallOf(ORDER);
  assert.equal(await never("hand-a", recall), recall);
  assert.equal(
    await makeWarrants(
      async () => undefined,
      () => NOW,
    )("hand-a", ORDER),
    ORDER,
  );
});
