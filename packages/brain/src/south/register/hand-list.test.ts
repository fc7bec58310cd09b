import type { HandRow } from "@vidro/core";
import assert from "node:assert/strict";
import { test } from "node:test";
import { REGISTER_LIMITS } from "@vidro/core";
import { findHand, selectHands } from "./hand-list.ts";

const tool = (name: string) => ({ name, description: "", parameters: {}, idempotent: true });

function row(name: string, more: Partial<HandRow> = {}): HandRow {
  return {
    id: `id-${name}`,
    owner: "ana",
    name,
    gateway: "agent-ws",
    version: "1",
    workspace: "/srv",
    tools: [tool("shell")],
    tags: [],
    state: "ok",
    lastSeenAt: 1,
    createdAt: 1,
    ...more,
  };
}

const ROWS: readonly HandRow[] = [
  row("local", { id: "local", gateway: "local" }),
  row("web1", { tags: ["web", "eu"] }),
  row("web2", { tags: ["web"], tools: [tool("shell"), tool("backup")] }),
  row("web3", { tags: ["web"], state: "down" }),
  row("db", { tags: ["eu"], tools: [tool("backup")] }),
  row("old", { tags: ["attic"], state: "down" }),
  row("sick", { tags: ["eu"], state: "degraded", barred: "quarantined" }),
];

const select = (selector: string): string[] => selectHands(ROWS, selector).map(({ name }) => name);

test("a selector is an id, a name, a tag, a tool, or several of these, and each hand counts once", () => {
  assert.deepEqual(select("id-web1"), ["web1"]);
  assert.deepEqual(select("web3"), ["web3"], "a hand that is named is waited for");
  assert.deepEqual(select("tag:web"), ["web1", "web2"], "a tag means who could work now");
  assert.deepEqual(select("tool:backup"), ["web2", "db"]);
  assert.deepEqual(select("web2, tag:eu,id-web2"), ["web2", "web1", "db"]);
});

test("the brain's own machine is meant only by its name, and comes first", () => {
  assert.deepEqual(select("tool:shell"), ["web1", "web2", "web3", "old", "sick"].slice(0, 2));
  assert.deepEqual(select("web1,local"), ["local", "web1"]);
});

test("a selector without a match says whether no hand exists or none is ready", () => {
  assert.throws(() => select("tag:none"), { code: "NOT_FOUND" });
  assert.throws(() => select("tag:attic"), { code: "HAND_UNAVAILABLE" });
  assert.throws(() => select("web1,"), { code: "BAD_REQUEST" });
  assert.throws(() => select("sick"), { code: "HAND_QUARANTINED" });
  assert.throws(() => select("wbe1"), { code: "NOT_FOUND", message: /Did you mean web1\?/ });
});

test("an id is never mistaken for the name that another hand gave itself", () => {
  const rows = [row("a"), row("b", { name: "id-a" })];
  assert.equal(findHand(rows, "id-a").name, "a");
});

test("G7 a run has a bounded number of hands", () => {
  const many = Array.from({ length: REGISTER_LIMITS.perRun + 1 }, (_, n) => row(`h${n}`, { tags: ["all"] }));
  assert.throws(() => selectHands(many, "tag:all"), { code: "BAD_REQUEST" });
  assert.equal(selectHands(many.slice(1), "tag:all").length, REGISTER_LIMITS.perRun);
});
