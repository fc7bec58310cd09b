import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, RUN_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";
import { folder } from "../stores/journal.fixture.ts";
import { memoryStore } from "../stores/memory.ts";
import { sqliteStore } from "../stores/sqlite.ts";
import { orPassedOn, RunRequests } from "./run-requests.ts";
import type { RunRequest } from "./run-requests.ts";

const ABORT: RunRequest = { kind: "abort", run: "run_1", reason: "não, obrigado" };

/** A brain on a store that serves requests about some runs. */
function brain(
  t: TestContext,
  records: Records,
  { drives, carryOut = async () => undefined }: { drives: readonly string[]; carryOut?: () => Promise<void> },
) {
  const requests = new RunRequests(records, Date.now);
  const served: RunRequest[] = [];
  requests.serve((request) => {
    if (!drives.includes(request.run)) return undefined;
    served.push(request);
    return carryOut();
  });
  t.after(() => requests.close());
  return { requests, served };
}

const left = async (records: Records): Promise<number> => (await records.list("run-request", { limit: 100 })).length;

test("a request is carried out once by the brain that drives the run, and leaves no record", async (t) => {
  const { records } = memoryStore();
  const caller = new RunRequests(records, Date.now);
  const [other, driver] = [brain(t, records, { drives: ["run_2"] }), brain(t, records, { drives: ["run_1"] })];
  const requests: readonly RunRequest[] = [
    ABORT,
    { kind: "say", run: "run_1", remark: { id: "r1", text: "mais 💧", by: "ana" } },
    { kind: "answer", run: "run_1", answer: { text: "yes", by: "ana", question: "q", input: { command: "ls" } } },
  ];
  for (const request of requests) await caller.pass(request);
  assert.deepEqual(driver.served, requests);
  assert.deepEqual(other.served, []);
  assert.equal(await left(records), 0);
});

test("the fault of the brain that carried it out is the caller's, by its code and words", async (t) => {
  const { records } = memoryStore();
  const thrown: unknown[] = [new Fault("CONFLICT", "No question is open in this run."), new Error("a bug")];
  brain(t, records, { drives: ["run_1"], carryOut: () => Promise.reject(thrown.shift()) });
  const caller = new RunRequests(records, Date.now);
  await assert.rejects(caller.pass(ABORT), { code: "CONFLICT", message: "No question is open in this run." });
  await assert.rejects(caller.pass(ABORT), { code: "INTERNAL_ERROR" });
  assert.equal(await left(records), 0);
});

test("fifty requests at once each get their own end", async (t) => {
  const { records } = memoryStore();
  let count = 0;
  const driver = brain(t, records, {
    drives: ["run_1"],
    carryOut: () => ((count += 1) % 2 === 0 ? Promise.resolve() : Promise.reject(new Fault("CONFLICT"))),
  });
  const caller = new RunRequests(records, Date.now);
  const ends = await Promise.allSettled(Array.from({ length: 50 }, () => caller.pass(ABORT)));
  assert.equal(ends.filter(({ status }) => status === "fulfilled").length, 25);
  assert.equal(driver.served.length, 50);
  assert.equal(await left(records), 0);
});

test("a request that no brain takes is RUN_BUSY after its time, and is withdrawn", async (t) => {
  const { records } = memoryStore();
  brain(t, records, { drives: ["run_2"] });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const passed = new RunRequests(records, Date.now).pass(ABORT);
  const refused = assert.rejects(passed, { code: "RUN_BUSY", message: /run_1/ });
  while ((await left(records)) === 0) await new Promise(setImmediate);
  t.mock.timers.tick(RUN_LIMITS.relayMs);
  await refused;
  assert.equal(await left(records), 0);
});

test("requests that are no requests are left alone, and those behind them are carried out", async (t) => {
  const { records } = memoryStore();
  const now = Date.now();
  for (const [index, body] of [
    { request: "{", at: now },
    { request: 7, at: now },
    { at: now },
    {},
    { request: "null", at: now },
  ].entries())
    await records.put({ kind: "run-request", id: `rubbish${index}`, owner: "x", body });
  const driver = brain(t, records, { drives: ["run_1"] });
  await new RunRequests(records, Date.now).pass(ABORT);
  await new RunRequests(records, Date.now).pass(ABORT);
  assert.equal(driver.served.length, 2);
});

test("a request whose caller is long gone is not carried out, and is removed", async (t) => {
  const { records } = memoryStore();
  const old = { request: JSON.stringify(ABORT), at: Date.now() - 2 * RUN_LIMITS.relayMs - 1 };
  await records.put({ kind: "run-request", id: "old", owner: "x", body: old });
  const driver = brain(t, records, { drives: ["run_1", "run_2"] });
  await new RunRequests(records, Date.now).pass({ ...ABORT, run: "run_2" });
  assert.deepEqual(
    driver.served.map(({ run }) => run),
    ["run_2"],
  );
  assert.equal(await records.get("run-request", "old"), undefined);
});

test("closing waits for the request that is carried out, and takes no later one", async (t) => {
  const { records } = memoryStore();
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const driver = brain(t, records, {
    drives: ["run_1"],
    carryOut: () => {
      begun.resolve();
      return go.promise;
    },
  });
  const passed = new RunRequests(records, Date.now).pass(ABORT);
  await begun.promise;
  let isClosed = false;
  const closed = driver.requests.close().then(() => (isClosed = true));
  await new Promise(setImmediate);
  assert.equal(isClosed, false);
  go.resolve();
  await closed;
  await passed;
  await records.put({ kind: "run-request", id: "later", owner: "x", body: { request: JSON.stringify(ABORT), at: 1 } });
  assert.equal(driver.served.length, 1);
});

test("a request that takes long keeps no other from being carried out", async (t) => {
  const { records } = memoryStore();
  const go = Promise.withResolvers<void>();
  const requests = new RunRequests(records, Date.now);
  const begun = Promise.withResolvers<void>();
  requests.serve((request) => {
    if (request.run !== "run_slow") return Promise.resolve();
    begun.resolve();
    return go.promise;
  });
  t.after(() => requests.close());
  const caller = new RunRequests(records, Date.now);
  const slow = caller.pass({ ...ABORT, run: "run_slow" });
  await begun.promise;
  for (const run of ["run_1", "run_2", "run_1"]) await caller.pass({ ...ABORT, run });
  go.resolve();
  await slow;
  assert.equal(await left(records), 0);
});

test("two connections to one file of SQLite pass requests on", async (t) => {
  const place = folder();
  const path = join(place.path, "store");
  const [here, there] = [await sqliteStore(path), await sqliteStore(path)];
  t.after(async () => {
    await Promise.all([here.close(), there.close()]);
    place[Symbol.dispose]();
  });
  const driver = brain(t, there.records, { drives: ["run_1"] });
  await new RunRequests(here.records, Date.now).pass(ABORT);
  assert.deepEqual(driver.served, [ABORT]);
  await driver.requests.close();
});

test("only RUN_BUSY is passed on, and only where there is another brain", async () => {
  const passed: RunRequest[] = [];
  const pass = async (request: RunRequest): Promise<void> => void passed.push(request);
  const busy = (): Promise<void> => Promise.reject(new Fault("RUN_BUSY"));
  await orPassedOn(pass, async () => undefined, ABORT);
  assert.deepEqual(passed, []);
  await orPassedOn(pass, busy, ABORT);
  assert.deepEqual(passed, [ABORT]);
  await assert.rejects(orPassedOn(undefined, busy, ABORT), { code: "RUN_BUSY" });
  await assert.rejects(
    orPassedOn(pass, () => Promise.reject(new Fault("CONFLICT")), ABORT),
    { code: "CONFLICT" },
  );
  assert.equal(passed.length, 1);
});
