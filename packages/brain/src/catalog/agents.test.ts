import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { AgentCatalog, agentUuid } from "./agents.ts";
import { memoryStore } from "../stores/memory.ts";
import { Threads } from "./threads.ts";
import { BUNNY, BUNNY_UUID } from "./agent.ts";
import type { AgentFields } from "./agent.ts";

const draft = (name: string, more: Partial<AgentFields> = {}): AgentFields => ({
  name,
  description: "",
  prompt: `You are ${name}.`,
  image: null,
  tools: null,
  ...more,
});

async function folderWith(
  t: { after(done: () => Promise<void>): void },
  name: string,
  prompt: string,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vidro-agents-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, `${name}.md`), `---\n---\n${prompt}`);
  return folder;
}

test("bunny is always there, under the same uuid on every brain", async () => {
  const agents = new AgentCatalog(memoryStore().records);
  assert.equal(agentUuid(BUNNY.name), BUNNY_UUID);
  assert.equal((await agents.find("Bunny")).uuid, BUNNY_UUID);
  assert.equal((await agents.find(BUNNY_UUID.toUpperCase())).prompt, BUNNY.prompt);
  assert.deepEqual(
    (await agents.list()).map(({ name }) => name),
    ["bunny"],
  );
});

test("a name is taken once, whatever its case", async () => {
  const agents = new AgentCatalog(memoryStore().records);
  const [one, other] = await Promise.allSettled([
    agents.create(draft("doc"), "ana"),
    agents.create(draft("DOC"), "bob"),
  ]);
  assert.deepEqual([one.status, other.status].sort(), ["fulfilled", "rejected"]);
  await assert.rejects(agents.create(draft("bunny"), "ana"), { code: "CONFLICT" });
});

test("a later folder wins over an earlier one, and what callers made wins over both until it is forgotten", async (t) => {
  const shipped = await folderWith(t, "bunny", "shipped");
  const own = await folderWith(t, "bunny", "own");
  const agents = new AgentCatalog(memoryStore().records, shipped, own);
  assert.equal((await agents.find("bunny")).prompt, "own");
  await agents.replace("bunny", draft("bunny", { prompt: "made", model: "offline" }), "ana");
  assert.equal((await agents.find("bunny")).prompt, "made");
  assert.deepEqual(
    (await agents.list()).map(({ uuid, prompt, model }) => [uuid, prompt, model]),
    [[BUNNY_UUID, "made", "offline"]],
  );
  await agents.delete("bunny");
  assert.equal((await agents.find("bunny")).prompt, "own");
  await assert.rejects(agents.delete("bunny"), { code: "CONFLICT" });
});

test("an agent keeps its name, and one that is not there cannot be changed", async () => {
  const agents = new AgentCatalog(memoryStore().records);
  const { uuid, createdAt } = await agents.create(draft("doc"), "ana");
  await assert.rejects(agents.replace(uuid, draft("other"), "ana"), { code: "CONFLICT" });
  const replaced = await agents.replace(uuid, draft("doc", { tools: ["shell"] }), "ana");
  assert.deepEqual([replaced.tools, replaced.createdAt], [["shell"], createdAt]);
  await assert.rejects(agents.replace("nobody", draft("nobody"), "ana"), { code: "NOT_FOUND" });
});

test("a thread keeps its agent and tools, belongs to its owner, and is cast anew for each run", async () => {
  const { records } = memoryStore();
  const agents = new AgentCatalog(records);
  const tool = { name: "shell", description: "", parameters: {}, idempotent: false };
  const threads = new Threads(records, { agents, tools: async () => [tool] });
  await agents.create(draft("doc", { tools: ["shell"] }), "ana");
  const thread = await threads.create({ owner: "ana", agent: "doc", metadata: { project: "x" } });
  assert.deepEqual(await threads.find(thread.id, "ana"), thread);
  await assert.rejects(threads.find(thread.id, "bob"), { code: "NOT_FOUND" });
  await assert.rejects(threads.create({ owner: "ana", tools: ["fly"] }), { code: "BAD_ARGUMENTS", message: /"fly"/ });
  const { tools, agent, owner, thread: id } = await threads.cast(thread);
  assert.deepEqual([tools, agent?.name, owner, id], [["shell"], "doc", "ana", thread.id]);
  const second = await threads.create({ owner: "ana", tools: [] });
  assert.deepEqual((await threads.cast(second)).tools, []);
  assert.equal("tools" in (await threads.cast(await threads.create({ owner: "bob" }))), false);
  assert.deepEqual(
    (await threads.list("ana", { limit: 10 })).map((each) => each.id),
    [second.id, thread.id],
  );
  await agents.delete("doc");
  await assert.rejects(threads.cast(thread), { code: "NOT_FOUND" });
});

test("the agent that carries out commands is in no list, and can be neither made, changed nor deleted", async () => {
  const agents = new AgentCatalog(memoryStore().records);
  const built = await agents.find("direct");
  await assert.rejects(agents.create(draft("Direct"), "ana"), { code: "CONFLICT" });
  await assert.rejects(agents.replace("direct", draft("direct", { prompt: "mine" }), "ana"), { code: "CONFLICT" });
  await assert.rejects(agents.delete(built.uuid), { code: "CONFLICT" });
  assert.deepEqual(await agents.find("direct"), built);
  assert.deepEqual(
    (await agents.list()).map(({ name }) => name),
    ["bunny"],
  );
});

test("one name has one uuid, however it is written, and other names have others", () => {
  const alike = [
    ["Café", "café", "CAFÉ", "cafe\u0301"],
    ["doc writer", "Doc Writer"],
  ];
  for (const names of alike) assert.equal(new Set(names.map(agentUuid)).size, 1, names.join());
  const others = ["doc", "doc ", "d0c", "docs", "döc", "", "文", "文档"];
  assert.equal(new Set(others.map(agentUuid)).size, others.length);
  for (const name of others)
    assert.match(agentUuid(name), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("a file that cannot be parsed leaves the agents as they were read before", async (t) => {
  const folder = await folderWith(t, "doc", "first");
  const agents = new AgentCatalog(memoryStore().records, folder);
  await agents.load();
  await writeFile(join(folder, "doc.md"), "no head");
  await assert.rejects(agents.reload(), { code: "BAD_REQUEST", message: /doc\.md/ });
  assert.equal((await agents.find("doc")).prompt, "first");
  await writeFile(join(folder, "doc.md"), "---\n---\nsecond");
  await agents.reload();
  assert.equal((await agents.find("doc")).prompt, "second");
  await rm(join(folder, "doc.md"));
  await agents.reload();
  await assert.rejects(agents.find("doc"), { code: "NOT_FOUND" });
});

test("agents are listed by name behind bunny, each once", async (t) => {
  const agents = new AgentCatalog(memoryStore().records, await folderWith(t, "mid", "file"));
  for (const name of ["zoe", "Ana", "mid2", "ábaco"]) await agents.create(draft(name), "ana");
  await agents.replace("mid", draft("mid", { prompt: "made" }), "ana");
  assert.deepEqual(
    (await agents.list()).map(({ name }) => name),
    ["bunny", "ábaco", "Ana", "mid", "mid2", "zoe"],
  );
  assert.equal((await agents.find("MID")).prompt, "made");
});
