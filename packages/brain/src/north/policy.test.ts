import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

const DATE = { tool: "command", input: { command: "date", args: ["--iso-8601"] } };

/** A policy that adds one rule to the shipped ones. */
function denying(program: string, match: readonly string[] = [program]): JsonObject {
  const rule = { kind: "process", id: `no-${program}`, class: "read", decision: "deny", reason: "not here" };
  const about = { program: [program], arguments: "any", examples: { match: [match], not_match: [] } };
  return { extends: "shipped", rules: [{ ...rule, ...about }] };
}

async function versionOf(daemon: ServedDaemon): Promise<string> {
  return textIn((await daemon.ask("GET", "/v1/policy")).json, "version") ?? "";
}

test("the rules of the policy are shown in order, the shipped ones apart from those that were added", async () => {
  await using daemon = await servedDaemon();
  const { json } = await daemon.ask("GET", "/v1/policy");
  const rules = json["rules"] as { added: boolean; rule: { id: string; examples: { match: unknown[] } } }[];
  assert.ok(rules.length > 20 && rules.every(({ added, rule }) => !added && Array.isArray(rule.examples.match)));
  assert.deepEqual(json["source"], { extends: "shipped", rules: [] });
  await daemon.ask("PUT", "/v1/policy", { source: denying("date"), version: await versionOf(daemon) });
  const now = (await daemon.ask("GET", "/v1/policy")).json["rules"] as typeof rules;
  assert.deepEqual([now[0]?.added, now[0]?.rule.id, now[1]?.added], [true, "no-date", false]);
});

test("an action is explained by the policy in force and by a draft, and nothing is run or changed", async () => {
  await using daemon = await servedDaemon();
  const { json: before } = await daemon.ask("POST", "/v1/policy/explain", DATE);
  assert.equal(before["decision"], "allow");
  const { json: draft } = await daemon.ask("POST", "/v1/policy/explain", { ...DATE, source: denying("date") });
  assert.deepEqual([draft["decision"], draft["rule"], draft["reason"]], ["deny", "no-date", "not here"]);
  const findings = draft["findings"] as { rule: string; matched: boolean }[];
  assert.equal(findings.find(({ rule }) => rule === "no-date")?.matched, true);
  assert.ok(findings.length > 1, "the shipped rules about it are there, too");
  assert.equal(existsSync(join(daemon.home, "policy.json")), false);
  const touch = { tool: "shell", input: { command: "touch it-ran" } };
  assert.equal((await daemon.ask("POST", "/v1/policy/explain", touch)).status, 200);
  assert.equal(existsSync(join(daemon.workspace, "it-ran")), false);
});

test("a draft whose examples do not hold is refused by name, and the policy stays as it was", async () => {
  await using daemon = await servedDaemon();
  const version = await versionOf(daemon);
  const wrong = denying("date", ["uptime"]);
  for (const [method, path, body] of [
    ["POST", "/v1/policy/check", { source: wrong }],
    ["POST", "/v1/policy/history", { source: wrong }],
    ["PUT", "/v1/policy", { source: wrong, version }],
  ] as const) {
    const { status, json } = await daemon.ask(method, path, body);
    assert.equal(status, 400, path);
    assert.match(textIn(json, "error") ?? "", /no-date/);
  }
  assert.equal(existsSync(join(daemon.home, "policy.json")), false);
  const { json } = await daemon.ask("POST", "/v1/policy/check", { source: denying("date") });
  assert.ok(Number(json["examples"]) > 50 && Number(json["rules"]) > 20);
});

test("a saved policy counts for the open hand at once, and one that is based on an older version is refused", async () => {
  await using daemon = await servedDaemon();
  const version = await versionOf(daemon);
  const saved = await daemon.ask("PUT", "/v1/policy", { source: denying("date"), version });
  assert.equal(saved.status, 200);
  assert.equal((await daemon.ask("POST", "/v1/policy/explain", DATE)).json["decision"], "deny");
  assert.deepEqual(JSON.parse(readFileSync(join(daemon.home, "policy.json"), "utf8")), denying("date"));
  const late = await daemon.ask("PUT", "/v1/policy", { source: denying("uptime"), version });
  assert.deepEqual([late.status, late.json["code"]], [409, "CONFLICT"]);
  assert.equal((await daemon.ask("POST", "/v1/policy/explain", DATE)).json["decision"], "deny");
});

test("a draft is tried on the actions of past runs: those that it would decide otherwise are named", async () => {
  await using daemon = await servedDaemon();
  const { json: run } = await daemon.ask("POST", "/v1/runs", { task: 'run "date" and "uptime"' });
  const path = `/v1/runs/${textIn(run, "id") ?? ""}`;
  while ((await daemon.ask("GET", path)).json["status"] === "running") await new Promise(setImmediate);
  const { json: same } = await daemon.ask("POST", "/v1/policy/history", {});
  assert.deepEqual([same["judged"], same["count"], same["changed"]], [2, 0, []]);
  const { json: other } = await daemon.ask("POST", "/v1/policy/history", { source: denying("date") });
  const [changed, ...more] = other["changed"] as { run: string; was: JsonObject; now: JsonObject }[];
  assert.deepEqual([other["count"], more], [1, []]);
  assert.deepEqual([changed?.run, changed?.was["decision"], changed?.now["decision"]], [run["id"], "allow", "deny"]);
});

test("only an administrator sees and changes the policy, and a brain without a hand has none", async () => {
  await using daemon = await servedDaemon();
  const { json } = await daemon.ask("POST", "/v1/tokens", { owner: "ana", scopes: ["runs", "approve"] });
  const token = textIn(json, "token") ?? "";
  for (const [method, path, body] of [
    ["GET", "/v1/policy", undefined],
    ["PUT", "/v1/policy", { source: denying("date"), version: "" }],
    ["POST", "/v1/policy/explain", DATE],
    ["POST", "/v1/policy/history", {}],
    ["POST", "/v1/policy/check", { source: denying("date") }],
  ] as const)
    assert.equal((await daemon.ask(method, path, body, token)).status, 403, path);
  await using handless = await servedDaemon({ localHand: false });
  const answer = await handless.ask("GET", "/v1/policy");
  assert.equal(answer.status, 404);
  assert.match(textIn(answer.json, "error") ?? "", /policies of their own/);
});
