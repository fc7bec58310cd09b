import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { isObject } from "@vidro/core";
import type { HandEvent, JsonObject } from "@vidro/core";
import { ENROL_SCHEMA, RENEW_SCHEMA } from "@vidro/core/wire/enrolment";
import { EXECUTOR_MESSAGE_SCHEMAS, BRAIN_MESSAGE_SCHEMAS } from "@vidro/core/wire/executor-ws-schemas";
import { REQUEST_SCHEMAS, HAND_MESSAGE_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import * as tcp from "@vidro/core/wire/agent-tcp-schemas";
import { Ajv } from "ajv";
import { JoinedHand, SouthboundHarness } from "../support/southbound-harness.ts";

/* The roles and the life of a hand, as the first part of the contract has them. */

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const ASKER = { owner: "local", admin: false };

test("000-01 the SPEC is v1.0, and binds the tests that show it", () => {
  const spec = read("SPEC.md");
  assert.match(spec.split("\n")[0] ?? "", /SPEC v1\.0$/);
  assert.match(spec, /contract tests are bound to this text/i);
  const rows = read("docs/specs/matrix.md");
  for (const row of ["000-38", "001-01", "002-04", "003-05", "004-17"])
    assert.match(rows, new RegExp(`\\| ${row} \\| \\S`));
});

test("000-01 JSON Schemas of every wire to a hand are exported, sound, and named in the SPEC", () => {
  const spec = read("SPEC.md");
  const ajv = new Ajv({ strict: false });
  const acts = Object.entries<unknown>(tcp).flatMap(([name, schema]) =>
    name.endsWith("_SCHEMA") && isObject(schema) ? [[name, schema] as const] : [],
  );
  const wires: readonly Record<string, JsonObject>[] = [
    REQUEST_SCHEMAS,
    HAND_MESSAGE_SCHEMAS,
    EXECUTOR_MESSAGE_SCHEMAS,
    BRAIN_MESSAGE_SCHEMAS,
  ];
  for (const schema of [
    ...wires.flatMap((wire) => Object.values(wire)),
    ...acts.map(([, one]) => one),
    ENROL_SCHEMA,
    RENEW_SCHEMA,
  ])
    assert.equal(typeof ajv.compile(schema), "function");
  const ours = new Set(["judge_tool", "tool_judgement", "cancel_tool", "tool_acknowledged"]);
  for (const name of wires.flatMap((wire) => Object.keys(wire)))
    assert.ok(ours.has(name) || spec.includes(`\`${name}`) || spec.includes(`${name}\``), `${name} is not in SPEC.md`);
  for (const [name] of acts) {
    const act = name.replace(/_SCHEMA$/, "");
    if (!["JUDGE", "RUN_TOOL", "ACTION"].includes(act)) assert.ok(spec.includes(`\`${act}\``), act);
  }
});

test("000-02 who executes, who orchestrates and who wraps a transport are modules that do not know each other", () => {
  const importsOf = (pattern: string): readonly string[] =>
    globSync(pattern, { cwd: ROOT })
      .filter((path) => !/\.(test|fixture|contract)\.ts$/.test(path))
      .flatMap((path) => [...read(path).matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? ""));
  assert.deepEqual(
    importsOf("packages/hands/src/**/*.ts").filter((name) => /@vidro\/brain|packages\/brain|\/brain\/src\//.test(name)),
    [],
  );
  const handler = importsOf("packages/brain/src/run/{engine,runs}.ts");
  assert.ok(handler.length > 0);
  assert.deepEqual(
    handler.filter((name) => /models\/|south\/|north\/|@vidro\/hands/.test(name)),
    [],
  );
  assert.deepEqual(
    importsOf("packages/brain/src/models/**/*.ts").filter((name) => /south\/|engine|@vidro\/hands/.test(name)),
    [],
  );
  assert.deepEqual(
    importsOf("packages/brain/src/south/**/*.ts").filter((name) => /north\/|models\//.test(name)),
    [],
  );
});

test("000-03 000-04 a hand is registered by its hello, with its version, capabilities and status, and stays known when it is gone", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { identity } = await JoinedHand.join(t, south);
  const here = south.hands.find(identity.agentId, ASKER);
  assert.deepEqual([here.state, here.gateway, here.owner], ["ok", "agent-ws", "local"]);
  assert.match(here.version, /^\d+\.\d+/);
  assert.ok(here.tools.some(({ name }) => name === "command"));
  await south.hands.close();
  assert.equal(south.hands.find(identity.agentId, ASKER).state, "down");
});

test("000-05 execution gives output while it goes on and an outcome in the end, and telemetry beside it", async (t) => {
  const south = await SouthboundHarness.up(t);
  const { identity } = await JoinedHand.join(t, south);
  const events = await performed(south, identity.agentId, { command: "uname", args: ["-s"] });
  assert.deepEqual(events.slice(0, -1), [{ type: "output", stream: "stdout", chunk: "Linux\n" }]);
  const end = events.at(-1);
  assert.ok(end?.type === "finished" && end.outcome.kind === "process" && end.outcome.exitCode === 0);
  while (south.samples.length === 0) await new Promise(setImmediate);
  assert.equal(south.samples[0]?.["hand"], identity.agentId);
});

async function performed(south: SouthboundHarness, id: string, input: JsonObject): Promise<readonly HandEvent[]> {
  const hand = await south.hands.at(id);
  const order = {
    action: { id: "act_role", tool: "command", input, callId: "c" },
    run: "run_1",
    epoch: 1,
    ttlMs: 60_000,
  };
  return Array.fromAsync(hand.perform(order, new AbortController().signal));
}
