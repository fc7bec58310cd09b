import assert from "node:assert/strict";
import { test } from "node:test";
import type { HandDescription, ToolSpec } from "@vidro/core";
import { memoryStore } from "../../stores/memory.ts";
import { HandRecords } from "./hand-records.ts";

function toolsOf(name: string): readonly ToolSpec[] {
  return [{ name, description: "Does it.", parameters: { type: "object" }, idempotent: true }];
}

function describeHand(id: string, tools: readonly ToolSpec[]): HandDescription {
  return { id, owner: "ana", name: id, gateway: "agent-ws", version: "1", workspace: "/", tools, tags: [] };
}

const AT = { epoch: 1, lastSeenAt: 1 };

test("what hands can do is on record once, and read back with each of them", async () => {
  const { records } = memoryStore();
  const kept = new HandRecords(records);
  const descriptions = [
    describeHand("one", toolsOf("look")),
    describeHand("two", toolsOf("look")),
    describeHand("three", toolsOf("listen")),
  ];
  for (const description of descriptions) await kept.keep(description, AT);
  assert.equal((await records.list("hand-tools", { limit: 10 })).length, 2);
  const all = await new HandRecords(records).all(10);
  assert.deepEqual(
    all.map(({ description }) => description),
    descriptions,
  );
});

test("a list that no hand has any more is forgotten, and a hand whose list is gone is still known", async () => {
  const { records } = memoryStore();
  const kept = new HandRecords(records);
  await kept.keep(describeHand("one", toolsOf("look")), AT);
  await kept.keep(describeHand("one", toolsOf("listen")), AT);
  await kept.all(10);
  const [list, ...others] = await records.list("hand-tools", { limit: 10 });
  assert.deepEqual(list?.body["tools"], toolsOf("listen"));
  assert.deepEqual(others, []);
  await records.delete("hand-tools", list?.id ?? "");
  assert.deepEqual((await kept.all(10))[0]?.description.tools, []);
});

test("a list that another brain has just written for a hand to come is kept", async () => {
  const { records } = memoryStore();
  const kept = new HandRecords(records);
  await kept.keep(describeHand("one", toolsOf("look")), AT);
  await kept.forget("one");
  await kept.all(10, Date.now() - 1000);
  assert.equal((await records.list("hand-tools", { limit: 10 })).length, 1);
  await kept.all(10, Date.now());
  assert.deepEqual(await records.list("hand-tools", { limit: 10 }), []);
});
