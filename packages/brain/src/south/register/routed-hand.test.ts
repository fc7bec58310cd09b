import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Action, ActionEnd, FaultReport, Hand, JsonObject, ToolSpec } from "@vidro/core";
import { Landscape } from "../hosts.fixture.ts";
import { routedHand } from "./routed-hand.ts";

const NEVER = new AbortController().signal;

async function two(land: Landscape): Promise<{ readonly all: Hand; readonly web: Hand; readonly db: Hand }> {
  const { hand: web } = await land.host("web");
  const { hand: db } = await land.host("db");
  const withBackup: Hand = new Proxy(db, {
    get: (target, name) => {
      if (name === "tools") return [...target.tools, BACKUP];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
  const all = routedHand([
    { name: "web", tags: [], hand: web },
    { name: "db", tags: [], hand: withBackup },
  ]);
  return { all, web, db };
}

const BACKUP: ToolSpec = { name: "backup", description: "", parameters: { type: "object" }, idempotent: false };

function act(input: JsonObject, tool = "command"): Action {
  return { id: "act_1", tool, input, callId: "c" };
}

async function ended(hand: Hand, action: Action): Promise<ActionEnd> {
  for await (const event of hand.perform({ action, epoch: 1, run: "run_1", ttlMs: 60_000 }, NEVER))
    if (event.type !== "output") return event;
  throw new Error("No end came.");
}

const propertiesOf = ({ parameters }: ToolSpec): JsonObject => parameters["properties"] as JsonObject;

test("every tool takes a field that names the hand, of those that have the tool", async () => {
  await using land = new Landscape();
  const { all, web, db } = await two(land);
  assert.equal(all.id, `${web.id},${db.id}`);
  const command = all.tools.find(({ name }) => name === "command")!;
  assert.deepEqual((propertiesOf(command)["hand"] as JsonObject)["enum"], ["web", "db"]);
  assert.deepEqual(command.parameters["required"], ["command", "hand"]);
  const backup = all.tools.find(({ name }) => name === "backup")!;
  assert.deepEqual((propertiesOf(backup)["hand"] as JsonObject)["enum"], ["db"]);
  assert.deepEqual(backup.parameters["required"], []);
});

test("only the named hand executes the action", async () => {
  await using land = new Landscape();
  const { all, web, db } = await two(land);
  const action = act({ command: "touch", args: ["done"], hand: "db" });
  assert.ok("verdict" in (await all.judge(action)));
  assert.equal((await ended(all, action)).type, "finished");
  assert.deepEqual([existsSync(join(web.workspace, "done")), existsSync(join(db.workspace, "done"))], [false, true]);
  await all.acknowledge("act_1");
});

test("an order that names no hand, or none that there is, is told the names", async () => {
  await using land = new Landscape();
  const { all } = await two(land);
  const words = async (action: Action): Promise<readonly string[]> => {
    const judged = (await all.judge(action)) as FaultReport;
    const end = await ended(all, action);
    assert.deepEqual(end, { type: "failed", fault: judged });
    return [judged.code, judged.message];
  };
  const nowhere = await words(act({ command: "true" }));
  assert.deepEqual(nowhere, ["BAD_ARGUMENTS", 'Say where: "hand" is one of web, db.']);
  const unknown = await words(act({ command: "true", hand: "mail" }));
  assert.deepEqual(unknown, ["BAD_ARGUMENTS", 'No hand "mail" has the tool command; these have it: web, db.']);
  assert.equal((await words(act({}, "nonsense")))[0], "UNKNOWN_TOOL");
});

test("two hands of one name are told apart by their ids", async () => {
  await using land = new Landscape();
  const { hand: one } = await land.host("one");
  const { hand: other } = await land.host("other");
  const all = routedHand([
    { name: "web", tags: [], hand: one },
    { name: "web", tags: [], hand: other },
  ]);
  const command = all.tools.find(({ name }) => name === "command")!;
  assert.deepEqual((propertiesOf(command)["hand"] as JsonObject)["enum"], [one.id, other.id]);
  assert.equal((await ended(all, act({ command: "touch", args: ["done"], hand: other.id }))).type, "finished");
  assert.ok(existsSync(join(other.workspace, "done")));
});
