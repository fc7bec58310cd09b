import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, JsonObject } from "@vidro/core";
import { glassFor, wantsBlack, wantsGlass } from "./glass-lines.ts";
import type { Caller } from "../../auth/caller.ts";

const USER: Caller = { owner: "ana", tokenId: "t", scopes: new Set(["runs"]), admin: false };
const ADMIN: Caller = { ...USER, scopes: new Set(["*"]), admin: true };
const INTENT: Entry = {
  seq: 2,
  at: 5,
  event: { type: "intent.analyzed", originalIntent: "create_user", detectedIssue: "bad", decision: "map" },
};

const read = (text: string | undefined): JsonObject => JSON.parse(text ?? "null") as JsonObject;

test("001 in production only an administrator sees how an intent was analysed; the decision is for all", () => {
  for (const [caller, production, whole] of [
    [USER, true, false],
    [USER, false, true],
    [ADMIN, true, true],
  ] as const) {
    const line = glassFor({ caller }, production).entry(INTENT, "run_1") ?? "";
    assert.equal(line.includes("create_user"), whole);
    assert.equal(line.includes("bad"), whole);
    assert.deepEqual([read(line)["type"], read(line)["decision"]], ["intent_analysis", "map"]);
  }
});

test("everybody with the same sight shares one encoder", () => {
  assert.equal(glassFor({ caller: USER }, false), glassFor({ caller: ADMIN }, true));
  assert.equal(glassFor({ caller: USER }, true), glassFor({ caller: USER }, true));
});

test("001 every line has a type, a timestamp in milliseconds and the request it belongs to", () => {
  const glass = glassFor({ caller: USER }, true);
  const heartbeat = typeof glass.heartbeat === "string" ? glass.heartbeat : glass.heartbeat("run_1");
  const lines = [
    glass.begin?.("run_1"),
    heartbeat,
    glass.entry(INTENT, "run_1"),
    glass.resync?.("run_1", 4),
    glass.fault?.({ code: "JOURNAL_CORRUPT", message: "broken" }, "run_1"),
  ].map(read);
  assert.deepEqual(
    lines.map(({ type }) => type),
    ["status", "status", "intent_analysis", "status", "error"],
  );
  assert.ok(lines.every(({ timestamp, requestId }) => Number.isInteger(timestamp) && requestId === "run_1"));
  assert.equal(lines[3]?.["resync"], 4);
  assert.equal(lines[4]?.["trace_id"], "run_1");
});

test("001 who prefers NDJSON wants the glass box, who takes anything or an event stream does not", () => {
  const wants = (accept?: string): boolean => wantsGlass({ headers: accept === undefined ? {} : { accept } });
  assert.deepEqual(
    [wants("application/x-ndjson"), wants("application/x-ndjson;q=0.5, application/json"), wants("*/*"), wants()],
    [true, false, false, false],
  );
  assert.equal(wants("text/event-stream"), false);
});

test("001 who names JSON alone wants the black box; who takes anything gets what the route gives by itself", () => {
  const wants = (accept?: string): boolean => wantsBlack({ headers: accept === undefined ? {} : { accept } });
  assert.deepEqual(
    [wants("application/json"), wants("application/json, text/plain, */*"), wants()],
    [true, false, false],
  );
  assert.equal(wants("application/json;q=0.2, application/x-ndjson"), false);
});
