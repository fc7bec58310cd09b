import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { HAND_LIMITS, PROCESS_LIMITS } from "@vidro/core";
import { thisProcess } from "../host/process-identity.ts";
import { contextIn, scratch } from "../scratch.fixture.ts";
import { BackgroundProcesses } from "./background-processes.ts";
import { askKeeper, withSocketAddress } from "./keeper-wire.ts";
import { makeProcessFolder, processFolder, readRecord, writeRecord } from "./process-record.ts";
import type { BackgroundPlan, ProcessRecord } from "./process-record.ts";

const PLAN: BackgroundPlan = {
  kind: "shell",
  command: "cat",
  cwd: "/",
  env: {},
  timeoutMs: 60_000,
  access: "host",
  sandboxed: false,
};
const END = { exitCode: 0, signal: null, why: "exit", at: Date.now() } as const;
let started = 0;

/** Puts a process on record whose keeper is this process. */
function put(state: string, action: string, more: Partial<ProcessRecord> = {}): ProcessRecord {
  const startedAt = (started += 1);
  const whole = {
    action,
    name: action,
    run: "run_1",
    plan: PLAN,
    keep: false,
    pid: 1,
    keeper: thisProcess(),
    startedAt,
  };
  const record: ProcessRecord = { ...whole, ...more };
  writeRecord(makeProcessFolder(state, action), record);
  return record;
}

/** The processes of a scratch folder. */
function processesIn(t: TestContext): { readonly state: string; readonly background: BackgroundProcesses } {
  const state = scratch(t);
  return { state, background: new BackgroundProcesses(() => state) };
}

/** An order for a program, as the tool gives it. */
function orderOf(t: TestContext, action: string, plan: BackgroundPlan = PLAN) {
  const { workspace, state, env } = contextIn(scratch(t));
  const background = new BackgroundProcesses(() => state);
  t.after(() => background.close());
  const record = { action, run: "run_1", keep: false };
  const order = { record, plan: { ...plan, cwd: workspace }, workspace, state, reserved: [], env };
  return { background, state, order: { ...order, memoryBytes: HAND_LIMITS.treeBytes } };
}

/** Plays the keeper of a process: answers each connection in its own way. */
async function playKeeper(t: TestContext, folder: string, serve: (socket: Socket) => void): Promise<void> {
  const server = createServer(serve);
  t.after(() => server.close());
  await new Promise<void>((resolve) => withSocketAddress(folder, (address) => server.listen(address, resolve)));
}

describe("a process on record", () => {
  it("is found by the action that started it before any that has this as its name", (t) => {
    const { state, background } = processesIn(t);
    put(state, "act_1", { name: "srv" });
    put(state, "act_2", { name: "act_1" });
    assert.equal(background.find("act_1").action, "act_1");
    assert.equal(background.find("srv").action, "act_1");
    for (const named of ["", "act_3", "SRV", "../act_1"]) {
      assert.throws(() => background.find(named), { code: "NOT_FOUND", message: /started_processes lists them/ });
    }
  });

  it("is the newest of a name", (t) => {
    const { state, background } = processesIn(t);
    put(state, "old", { name: "srv", end: END });
    put(state, "new", { name: "srv" });
    assert.equal(background.find("srv").action, "new");
  });

  it("is used by its own run and its own brain, and by every run when it is kept", (t) => {
    const { state, background } = processesIn(t);
    put(state, "own", { run: "run_1", by: "brain_1" });
    put(state, "kept", { run: "run_1", by: "brain_1", keep: true });
    assert.equal(background.findFor("own", { run: "run_1", by: "brain_1" }).action, "own");
    for (const claim of [{ run: "run_2", by: "brain_1" }, { run: "run_1", by: "brain_2" }, { run: "run_1" }])
      assert.throws(() => background.findFor("own", claim), { code: "NOT_FOUND" });
    assert.equal(background.findFor("kept", { run: "run_9" }).action, "kept");
  });

  it("stays with its run when another run gives its name to a later one", (t) => {
    const { state, background } = processesIn(t);
    put(state, "mine", { name: "srv", run: "run_1", end: END });
    put(state, "theirs", { name: "srv", run: "run_2" });
    assert.equal(background.findFor("srv", { run: "run_1" }).action, "mine");
    assert.equal(background.findFor("srv", { run: "run_2" }).action, "theirs");
    assert.throws(() => background.findFor("srv", { run: "run_3" }), { code: "NOT_FOUND", message: /another run/ });
    assert.throws(() => background.findFor("theirs", { run: "run_1" }), { code: "NOT_FOUND" }, "an action is exact");
  });
});

describe("the start of a process", () => {
  it("is refused when too many run, and those that have ended do not count", async (t) => {
    const { background, state, order } = orderOf(t, "act_new");
    for (let at = 0; at < PROCESS_LIMITS.running; at += 1) put(state, `act_${at}`);
    await assert.rejects(background.start(order), {
      code: "TOOL_FAILED",
      message: /16 processes run .* stop one first/,
    });
    assert.equal(existsSync(processFolder(state, "act_new")), false);
    put(state, "act_0", { end: END });
    const record = await background.start(order);
    assert.equal(record.action, "act_new");
    assert.equal(await background.stop(record).then((end) => end?.why), "abort");
  });

  it("counts one start after the other, however many come at once", async (t) => {
    const { background, state, order } = orderOf(t, "act");
    for (let at = 0; at < PROCESS_LIMITS.running - 1; at += 1) put(state, `act_${at}`);
    const starts = ["a", "b", "c"].map((action) => background.start({ ...order, record: { ...order.record, action } }));
    const ends = await Promise.allSettled(starts);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected"],
    );
  });

  it("is refused under the name of one that runs, and takes the name of one that has ended", async (t) => {
    const { background, state, order } = orderOf(t, "act_new");
    put(state, "act_1", { name: "srv" });
    await assert.rejects(background.start(order, "srv"), { code: "BAD_ARGUMENTS", message: /choose another name/ });
    put(state, "act_1", { name: "srv", end: END });
    assert.equal((await background.start(order, "srv")).name, "srv");
    assert.ok(background.isKeeping);
    await background.close();
    assert.equal(background.isKeeping, false);
    assert.equal(readRecord(processFolder(state, "act_new"))?.end?.why, "abort");
  });

  it("names a process by the next number that none on record has", async (t) => {
    const { background, state, order } = orderOf(t, "act_new");
    put(state, "act_1", { name: "p7", end: END });
    put(state, "act_2", { name: "p3", end: END });
    put(state, "act_3", { name: "p99x", end: END });
    put(state, "act_4", { name: "p12345678901", end: END });
    assert.equal((await background.start(order)).name, "p8");
  });

  it("that fails leaves no folder behind, and the next one succeeds", async (t) => {
    const { background, state, order } = orderOf(t, "act_bad");
    const bad = { ...order, plan: { ...order.plan, cwd: join(state, "gone") } };
    await assert.rejects(background.start(bad), { code: "TOOL_FAILED" });
    assert.deepEqual(readdirSync(join(state, "processes")), []);
    assert.equal((await background.start({ ...order, record: { ...order.record, action: "act_good" } })).name, "p1");
  });
});

describe("the keeper of a process", () => {
  it("is asked, and its answer is given", async (t) => {
    const folder = scratch(t);
    const asked: string[] = [];
    await playKeeper(t, folder, (socket) =>
      socket.on("data", (bytes: Buffer) => {
        asked.push(bytes.toString());
        socket.end('{"error":"its input is closed"}\n');
      }),
    );
    const answer = await askKeeper(folder, { do: "write", text: "é\n", close: true });
    assert.deepEqual(answer, { error: "its input is closed" });
    assert.deepEqual(asked.join(""), '{"do":"write","text":"é\\n","close":true}\n');
  });

  it("that is gone, says nothing or says rubbish is a fault that names it", async (t) => {
    const serves: readonly ((socket: Socket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.end(),
      (socket) => socket.on("data", () => socket.end("no json\n")),
      (socket) => socket.on("data", () => socket.end('{"ok":true')),
    ];
    for (const serve of serves) {
      const folder = scratch(t);
      await playKeeper(t, folder, (socket) => serve(socket.on("error", () => undefined)));
      await assert.rejects(askKeeper(folder, { do: "stop" }), {
        code: "TOOL_FAILED",
        message: /^The keeper of the process/,
      });
    }
    const unreachable = { code: "TOOL_FAILED", message: "The keeper of the process cannot be reached." };
    await assert.rejects(askKeeper(scratch(t), { do: "stop" }), unreachable);
  });

  it("is reached in a folder whose path is longer than the address of a socket", async (t) => {
    const folder = join(scratch(t), "deep".repeat(20), "deep".repeat(20));
    mkdirSync(folder, { recursive: true });
    await playKeeper(t, folder, (socket) => socket.on("data", () => socket.end('{"ok":true}\n')));
    assert.deepEqual(await askKeeper(folder, { do: "stop" }), { ok: true });
    rmSync(folder, { recursive: true });
    await assert.rejects(askKeeper(folder, { do: "stop" }), { code: "TOOL_FAILED" });
  });

  it("gives the end of a process that ended while it was asked to stop", async (t) => {
    const { state, background } = processesIn(t);
    const record = put(state, "act_1");
    await playKeeper(t, background.folderOf(record), (socket) => {
      put(state, "act_1", { end: END });
      socket.destroy();
    });
    assert.deepEqual(await background.stop(record), END);
  });

  it("that cannot be reached while its process runs is told, and no end is made up", async (t) => {
    const { state, background } = processesIn(t);
    const record = put(state, "act_1");
    await assert.rejects(background.stop(record), { code: "TOOL_FAILED" });
    await assert.rejects(background.write(record, "x", false), { code: "TOOL_FAILED" });
  });

  it("is not asked about a process that has ended", async (t) => {
    const { state, background } = processesIn(t);
    const over = put(state, "act_1", { end: END });
    assert.deepEqual(await background.stop(over), END);
    await assert.rejects(background.write(over, "x", false), { code: "TOOL_FAILED", message: /has ended/ });
    const lost = put(state, "act_2", { keeper: { ...thisProcess(), started: "0" } });
    assert.equal(await background.stop(lost), undefined);
  });

  it("refuses more input than a process that reads nothing may have waiting", async (t) => {
    const { background, order } = orderOf(t, "act_1", { ...PLAN, command: "sleep 1000" });
    const record = await background.start(order);
    const text = "x".repeat(PROCESS_LIMITS.inputChars);
    const fill = async (): Promise<void> => {
      for (let bytes = 0; bytes < 2 * PROCESS_LIMITS.unreadBytes; bytes += text.length)
        await background.write(record, text, false);
    };
    await assert.rejects(fill(), { code: "TOOL_FAILED", message: /does not read its input/ });
  });

  it("refuses input after the input was closed", async (t) => {
    const { background, order } = orderOf(t, "act_1", { ...PLAN, command: "cat; sleep 1000" });
    const record = await background.start(order);
    await background.write(record, "last", true);
    await assert.rejects(background.write(record, "more", false), { code: "TOOL_FAILED", message: /input is closed/ });
  });
});
