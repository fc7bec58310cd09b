import assert from "node:assert/strict";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PROCESS_LIMITS } from "@vidro/core";
import { thisProcess } from "../host/process-identity.ts";
import { scratch } from "../scratch.fixture.ts";
import {
  isRunning,
  listRecords,
  makeProcessFolder,
  processFolder,
  pruneRecords,
  readRecord,
  writeRecord,
} from "./process-record.ts";
import type { ProcessRecord } from "./process-record.ts";

const NOW = Date.UTC(2026, 0, 2);

/** A record of a process whose keeper is this process. */
function recordOf(action: string, more: Partial<ProcessRecord> = {}): ProcessRecord {
  return {
    action,
    name: action,
    run: "run_1",
    plan: { kind: "shell", command: "true", cwd: "/", env: {}, timeoutMs: 1000, access: "host", sandboxed: false },
    keep: false,
    pid: 1,
    keeper: thisProcess(),
    startedAt: NOW,
    ...more,
  };
}

/** Puts a process on record. */
function keep(state: string, record: ProcessRecord): ProcessRecord {
  writeRecord(makeProcessFolder(state, record.action), record);
  return record;
}

const ended = (at: number): Partial<ProcessRecord> => ({
  startedAt: at,
  end: { exitCode: 0, signal: null, why: "exit", at },
});
const actionsOf = (state: string): readonly string[] => listRecords(state).map(({ action }) => action);

describe("the record of a process in the background", () => {
  it("is written as a whole and read back, in a folder for its owner alone", (t) => {
    const state = scratch(t);
    const record = keep(state, recordOf("act_1"));
    const folder = processFolder(state, "act_1");
    assert.deepEqual(readRecord(folder), record);
    assert.deepEqual(readdirSync(folder), ["process.json"], "nothing of the writing stays");
    assert.equal(statSync(folder).mode & 0o077, 0);
    assert.equal(statSync(join(folder, "process.json")).mode & 0o077, 0);
    keep(state, { ...record, name: "other" });
    assert.equal(readRecord(folder)?.name, "other");
  });

  it("lies in the state, whatever characters an action's id has", (t) => {
    const state = scratch(t);
    for (const action of ["../../../etc", "a/b", "x".repeat(5000), "\u0000", ""]) {
      const folder = processFolder(state, action);
      assert.match(folder.slice(join(state, "processes").length), /^\/[0-9a-f]{32}$/);
    }
    assert.notEqual(processFolder(state, "a"), processFolder(state, "b"));
  });

  it("is none where the file is missing, cut off or not a record", (t) => {
    const state = scratch(t);
    const folder = makeProcessFolder(state, "act_1");
    assert.equal(readRecord(folder), undefined);
    const whole = JSON.stringify(recordOf("act_1"));
    for (const text of ["", "null", "[]", "7", '{"name":"x"}', '{"action":7}', whole.slice(0, -5)]) {
      writeFileSync(join(folder, "process.json"), text);
      assert.equal(readRecord(folder), undefined, text);
      assert.deepEqual(listRecords(state), []);
    }
  });

  it("is one of a list with the newest first, beside what does not belong there", (t) => {
    const state = scratch(t);
    assert.deepEqual(listRecords(state), [], "no process was ever started");
    for (const [action, startedAt] of [
      ["b", 2],
      ["c", 3],
      ["a", 1],
    ] as const)
      keep(state, recordOf(action, { startedAt }));
    mkdirSync(join(state, "processes", "empty"));
    writeFileSync(join(state, "processes", "a-file"), "x");
    assert.deepEqual(actionsOf(state), ["c", "b", "a"]);
  });

  it("tells of a running process as long as its keeper lives and no end is on record", () => {
    const keeper = thisProcess();
    assert.equal(isRunning(recordOf("a")), true);
    assert.equal(isRunning(recordOf("a", ended(NOW))), false);
    assert.equal(
      isRunning(recordOf("a", { keeper: { ...keeper, started: "0" } })),
      false,
      "another one has its number",
    );
    assert.equal(isRunning(recordOf("a", { keeper: { ...keeper, host: `${keeper.host}x` } })), false);
    assert.equal(isRunning(recordOf("a", { keeper: { ...keeper, pid: 2 ** 22 + 1 } })), false);
  });

  it("is removed long after the end, and never while the process runs", (t) => {
    const state = scratch(t);
    keep(state, recordOf("running", { startedAt: NOW - 10 * PROCESS_LIMITS.endedMs }));
    keep(state, recordOf("old", ended(NOW - PROCESS_LIMITS.endedMs - 1)));
    keep(state, recordOf("fresh", ended(NOW - PROCESS_LIMITS.endedMs)));
    const lost = { keeper: { ...thisProcess(), started: "0" } };
    keep(state, recordOf("lost-long-ago", { ...lost, startedAt: NOW - PROCESS_LIMITS.endedMs - 1 }));
    keep(state, recordOf("lost", lost));
    pruneRecords(state, NOW);
    assert.deepEqual([...actionsOf(state)].sort(), ["fresh", "lost", "running"]);
  });

  it("is removed when too many have ended since, the oldest first", (t) => {
    const state = scratch(t);
    const number = PROCESS_LIMITS.ended + 3;
    for (let at = 0; at < number; at += 1) keep(state, recordOf(`act_${at}`, ended(NOW + at)));
    keep(state, recordOf("running", { startedAt: NOW - 1 }));
    pruneRecords(state, NOW + number);
    const left = actionsOf(state);
    assert.equal(left.length, PROCESS_LIMITS.ended + 1);
    assert.equal(left.at(-1), "running");
    for (const gone of ["act_0", "act_1", "act_2"]) assert.ok(!left.includes(gone));
    assert.ok(left.includes("act_3"));
  });
});
