import assert from "node:assert/strict";
import { test } from "node:test";
import { PROPOSAL_LIMITS } from "@vidro/core";
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
