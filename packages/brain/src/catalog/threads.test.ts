import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { ToolSpec } from "@vidro/core";
import { memoryStore } from "../stores/memory.ts";
import { BUNNY, BUNNY_UUID } from "./agent.ts";
import type { StoredAgent } from "./agent.ts";
import { assertTools, Threads } from "./threads.ts";

const spec = (name: string): ToolSpec => ({ name, description: "", parameters: {}, idempotent: true });
const HOME: StoredAgent = { ...BUNNY, tools: null, uuid: BUNNY_UUID, image: null, createdAt: 0, updatedAt: 0 };
const SCOUT: StoredAgent = { ...HOME, uuid: "scout-uuid", name: "scout", tools: ["read_file"] };

/** Threads over a store in memory, with two agents, and the hands whose tools were asked for. */
function threadsOf() {
  const asked: (string | undefined)[] = [];
  const agents = {
    find: (id: string): Promise<StoredAgent> => {
      const found = [HOME, SCOUT].find(({ uuid }) => uuid === id);
      return found === undefined ? Promise.reject(new Fault("NOT_FOUND", `no agent ${id}`)) : Promise.resolve(found);
    },
  };
  const tools = (ids?: string): Promise<readonly ToolSpec[]> => {
    asked.push(ids);
    return Promise.resolve([spec("read_file"), ...(ids === undefined ? [] : [spec("far_tool")])]);
  };
  return { threads: new Threads(memoryStore().records, { agents, tools }), asked };
}

void test("a thread that says nothing has the agent that is always there, its tools and no data", async () => {
  const { threads, asked } = threadsOf();
  const thread = await threads.create({ owner: "ana" });
  assert.equal(thread.agent, BUNNY_UUID);
  assert.equal(thread.tools, null);
  assert.deepEqual(thread.metadata, {});
  assert.ok(!("sampling" in thread) && !("hand" in thread));
  assert.deepEqual(asked, [], "no hand is asked for its tools");
  assert.deepEqual(await threads.find(thread.id, "ana"), thread);
});

void test("a thread keeps what it was made with", async () => {
  const { threads, asked } = threadsOf();
  const made = await threads.create({
    owner: "ana",
    agent: SCOUT.uuid,
    tools: ["far_tool"],
    metadata: { topic: "x", deep: { a: [1] } },
    sampling: { temperature: 0 },
    hand: { selector: "tag:web", ids: "h1,h2" },
  });
  assert.deepEqual(asked, ["h1,h2"], "the tools are those of the hands that it names");
  const found = await threads.find(made.id, "ana");
  assert.deepEqual(found, made);
  assert.deepEqual([found.hand, found.sampling, found.tools], ["tag:web", { temperature: 0 }, ["far_tool"]]);
});

void test("an unknown agent and an unknown tool are refused, and no thread is left", async () => {
  const { threads } = threadsOf();
  await assert.rejects(threads.create({ owner: "ana", agent: "none" }), { code: "NOT_FOUND" });
  await assert.rejects(threads.create({ owner: "ana", tools: ["read_file", "far_tool"] }), {
    code: "BAD_ARGUMENTS",
    message: 'There is no tool named "far_tool". The tools are: read_file.',
  });
  assert.deepEqual(await threads.list("ana", { limit: 10 }), []);
});

void test("an empty list of tools is kept: such a thread has none, not those of its agent", async () => {
  const { threads } = threadsOf();
  const thread = await threads.create({ owner: "ana", agent: SCOUT.uuid, tools: [] });
  assert.deepEqual((await threads.cast(thread)).tools, []);
});

void test("a thread of another owner is not found, in the words for one that is not there", async () => {
  const { threads } = threadsOf();
  const { id } = await threads.create({ owner: "ana" });
  const words = (name: string) => ({ code: "NOT_FOUND", message: `There is no conversation "${name}".` });
  await assert.rejects(threads.find(id, "ben"), words(id));
  await assert.rejects(threads.find("none", "ben"), words("none"));
  assert.deepEqual(await threads.list("ben", { limit: 10 }), []);
});

void test("an owner's threads are listed newest first, in pages", async () => {
  const { threads } = threadsOf();
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    ids.unshift((await threads.create({ owner: "ana" })).id);
    await threads.create({ owner: "ben" });
  }
  const first = await threads.list("ana", { limit: 2 });
  const next = await threads.list("ana", { limit: 10, after: first[1]!.id });
  assert.deepEqual(
    [...first, ...next].map(({ id }) => id),
    ids,
  );
});

void test("a run of a thread gets the tools of the thread, else those of its agent, else all", async () => {
  const { threads } = threadsOf();
  const [own, agents, all] = [
    await threads.create({ owner: "ana", agent: SCOUT.uuid, tools: ["read_file"] }),
    await threads.create({ owner: "ana", agent: SCOUT.uuid }),
    await threads.create({ owner: "ana", sampling: { seed: 1 } }),
  ];
  assert.deepEqual((await threads.cast(own)).tools, ["read_file"]);
  assert.deepEqual((await threads.cast(agents)).tools, SCOUT.tools);
  const cast = await threads.cast(all);
  assert.equal("tools" in cast, false);
  assert.deepEqual([cast.owner, cast.thread, cast.sampling], ["ana", all.id, { seed: 1 }]);
});

void test("the first unknown tool is named, and none of none is fine", () => {
  assertTools([], []);
  assert.throws(() => assertTools(["a", "b", "c"], [spec("a")]), /"b"/);
});
