import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { thisProcess } from "../host/process-identity.ts";
import { scratch } from "../scratch.fixture.ts";
import { readServing, removeServing, writeServing } from "./serving-file.ts";

test("a process that serves is found with its hand and its connection, and is gone when it says so", (t) => {
  const state = scratch(t);
  assert.equal(readServing(state), undefined);
  writeServing(state, "hand-1", false);
  assert.deepEqual(readServing(state), { holder: thisProcess(), agentId: "hand-1", connected: false });
  writeServing(state, "hand-1", true);
  assert.equal(readServing(state)?.connected, true);
  assert.equal(statSync(join(state, "serving.json")).mode & 0o777, 0o600);
  removeServing(state);
  assert.equal(readServing(state), undefined);
  assert.deepEqual(readdirSync(state), []);
});

test("a process that has ended serves no more, also when another has its number", async (t) => {
  const state = scratch(t);
  const file = join(state, "serving.json");
  const child = spawn("/bin/true", { stdio: "ignore" });
  await once(child, "exit");
  const holders = [
    { ...thisProcess(), pid: child.pid },
    { ...thisProcess(), started: "1" },
    { ...thisProcess(), boot: "another" },
    { ...thisProcess(), host: "another" },
  ];
  for (const holder of holders.slice(0, 2)) {
    writeFileSync(file, JSON.stringify({ holder, agentId: "h", connected: true }));
    assert.equal(readServing(state), undefined, JSON.stringify(holder));
  }
});

test("a file that is damaged, of wrong types or no file says that none serves", (t) => {
  const state = scratch(t);
  const file = join(state, "serving.json");
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    "5",
    "{}",
    '{"holder":5}',
    '{"holder":[]}',
    '{"holder":{}}',
    '{"holder":{"pid":"1"}}',
    '{"holder":{"pid":-1}}',
    '{"__proto__":{"holder":{}}}',
    "\0",
  ]) {
    writeFileSync(file, text);
    assert.equal(readServing(state), undefined, JSON.stringify(text));
  }
  const folder = scratch(t);
  mkdirSync(join(folder, "serving.json"));
  assert.equal(readServing(folder), undefined);
});

test("what another process has written is left", (t) => {
  const state = scratch(t);
  const file = join(state, "serving.json");
  const text = JSON.stringify({ holder: { ...thisProcess(), pid: process.ppid }, agentId: "h", connected: true });
  writeFileSync(file, text);
  removeServing(state);
  assert.equal(readFileSync(file, "utf8"), text);
});

test("a state folder that cannot be written to ends nothing", (t) => {
  assert.doesNotThrow(() => writeServing(join(scratch(t), "gone"), "h", true));
  assert.doesNotThrow(() => removeServing("/nonexistent"));
});
