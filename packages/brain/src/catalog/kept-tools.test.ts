import assert from "node:assert/strict";
import { test } from "node:test";
import { PAGE_LIMITS, PROPOSAL_LIMITS } from "@vidro/core";
import { memoryStore } from "../stores/memory.ts";
import { KeptTools } from "./kept-tools.ts";
import type { KeptTool } from "./kept-tools.ts";

const ANA = { owner: "ana", thread: "t1" };

function kept(name: string, program = "df"): KeptTool {
  const tool = { name, description: "d", parameters: {}, idempotent: false, argv: [program] };
  return { tool, by: "ana", at: 7, source: { run: "run_1", seq: 4 } };
}

/** The names and programs of the tools for a run. */
async function belt(tools: KeptTools, place = ANA): Promise<readonly string[]> {
  return (await tools.of(place)).map(({ name, argv = [] }) => `${name}=${argv.join(" ")}`);
}

test("an approved tool is one of its own thread and owner only, and a newer one of its name takes its place", async () => {
  const tools = new KeptTools(memoryStore().records);
  await tools.keep(ANA, kept("disk"));
  await tools.keep(ANA, kept("disk", "du"));
  assert.deepEqual(await belt(tools), ["disk=du"]);
  assert.deepEqual(await belt(tools, { owner: "ana", thread: "t2" }), []);
  assert.deepEqual(await belt(tools, { owner: "bob", thread: "t1" }), []);
  assert.deepEqual(await tools.list("bob"), []);
  await assert.rejects(tools.find("disk.t1", "bob"), { code: "NOT_FOUND" });
  assert.deepEqual(await tools.find("disk.t1", "ana"), { ...kept("disk", "du"), id: "disk.t1", ...ANA });
});

test("a promoted tool is one of all threads of its owner, which may have their own of that name", async () => {
  const tools = new KeptTools(memoryStore().records);
  await tools.keep(ANA, kept("disk"));
  const promoted = await tools.promote(await tools.find("disk.t1"));
  assert.deepEqual(promoted, { ...kept("disk"), id: "disk", owner: "ana" });
  assert.deepEqual(await tools.list(), [promoted]);
  assert.deepEqual(await belt(tools, { owner: "ana", thread: "t9" }), ["disk=df"]);
  assert.deepEqual(await belt(tools, { owner: "bob", thread: "t9" }), []);
  await assert.rejects(tools.promote(promoted), { code: "CONFLICT" });
  await tools.keep(ANA, kept("disk", "du"));
  assert.deepEqual(await belt(tools), ["disk=du"]);
  await assert.rejects(tools.promote(await tools.find("disk.t1")), { code: "CONFLICT" });
  await tools.remove(promoted);
  assert.deepEqual(await belt(tools, { owner: "ana", thread: "t9" }), []);
});

test("a thread has a bounded number of approved tools, and none is lost when several are kept at once", async () => {
  const tools = new KeptTools(memoryStore().records);
  await Promise.all([1, 2, 3].map((at) => tools.keep(ANA, kept(`disk_${at}`))));
  for (let at = 4; at <= PROPOSAL_LIMITS.perThread; at += 1) await tools.keep(ANA, kept(`disk_${at}`));
  assert.equal((await belt(tools)).length, PROPOSAL_LIMITS.perThread);
  await assert.rejects(tools.keep(ANA, kept("one_more")), { code: "CONFLICT" });
  await tools.keep(ANA, kept("disk_1", "du"));
});

test("a tool of any thread is found and removed, however many threads have some", async () => {
  const tools = new KeptTools(memoryStore().records);
  const count = PAGE_LIMITS.items + 5;
  for (let thread = 0; thread < count; thread += 1)
    await tools.keep({ owner: "ana", thread: `t${thread}` }, kept("disk"));
  assert.equal((await tools.list("ana")).length, count);
  assert.equal(new Set((await tools.list()).map(({ id }) => id)).size, count);
  await tools.remove(await tools.find("disk.t0", "ana"));
  assert.deepEqual(await belt(tools, { owner: "ana", thread: "t0" }), []);
  await assert.rejects(tools.find("disk.t0", "ana"), { code: "NOT_FOUND" });
});

test("owners have a bounded number of promoted tools, each for itself, and a replaced one takes no more room", async () => {
  const tools = new KeptTools(memoryStore().records);
  for (let at = 0; at < PROPOSAL_LIMITS.promoted; at += 1) await tools.keep({ owner: "ana" }, kept(`disk_${at}`));
  await assert.rejects(tools.keep({ owner: "ana" }, kept("more")), { code: "CONFLICT" });
  await tools.keep({ owner: "ana" }, kept("disk_0", "du"));
  await tools.keep({ owner: "bob" }, kept("more"));
  // A promotion that finds no room leaves the tool with its thread.
  await tools.keep(ANA, kept("more"));
  await assert.rejects(tools.promote(await tools.find("more.t1", "ana")), { code: "CONFLICT" });
  assert.equal((await tools.find("more.t1", "ana")).thread, "t1");
});

test("an owner whose name has a slash shares no tool with another", async () => {
  const tools = new KeptTools(memoryStore().records);
  await tools.keep({ owner: "ana/t1" }, kept("disk"));
  await tools.keep({ owner: "ana/t1", thread: "t2" }, kept("net"));
  for (const place of [ANA, { owner: "ana", thread: "t2" }]) assert.deepEqual(await belt(tools, place), []);
  assert.deepEqual(await tools.list("ana"), []);
});

test("a record of another version has no tools, and the next approval takes its place", async () => {
  const { records } = memoryStore();
  const tools = new KeptTools(records);
  await records.put({ kind: "kept_tools", id: "ana/t1", owner: "ana", body: { tools: "later" } });
  assert.deepEqual(await belt(tools), []);
  assert.deepEqual(await tools.list("ana"), []);
  await tools.keep(ANA, kept("disk"));
  assert.deepEqual(await belt(tools), ["disk=df"]);
});

test("removing a tool twice, also at once, is no error and removes no other", async () => {
  const tools = new KeptTools(memoryStore().records);
  await tools.keep(ANA, kept("disk"));
  await tools.keep(ANA, kept("net"));
  const row = await tools.find("disk.t1", "ana");
  await Promise.all([tools.remove(row), tools.remove(row)]);
  await tools.remove(row);
  assert.deepEqual(await belt(tools), ["net=df"]);
});
