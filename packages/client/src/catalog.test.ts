import assert from "node:assert/strict";
import { test } from "node:test";
import { Vidro } from "./client.ts";
import { answer, scriptedBrain } from "./scripted-brain.fixture.ts";
import type { Seen } from "./scripted-brain.fixture.ts";

const AGENT = {
  uuid: "3f96722a-9e3d-8241-b545-cd0ea1b6ed37",
  name: "bunny",
  description: null,
  prompt: "Be careful.",
  image: null,
  model: null,
  tools: ["Shell"],
  created_at: "2026-11-01T00:00:00.000Z",
  updated_at: "2026-11-02T00:00:00.000Z",
};
const THREAD = {
  thread_uuid: "t1",
  id: "t1",
  agent_uuid: AGENT.uuid,
  tools_enabled: null,
  created_at: 1,
  metadata: {},
};
const HEAD = {
  id: "run_1",
  owner: "me",
  thread: "t1",
  task: "x",
  status: "running",
  seq: 1,
  startedAt: 1,
  updatedAt: 1,
};

const ANSWERS: { readonly [request: string]: unknown } = {
  "GET /v1/agents": [AGENT],
  [`GET /v1/agents/${AGENT.uuid}`]: AGENT,
  "POST /v1/agents": AGENT,
  [`PUT /v1/agents/${AGENT.uuid}`]: AGENT,
  [`DELETE /v1/agents/${AGENT.uuid}`]: { uuid: AGENT.uuid, deleted: true },
  "GET /v1/tools": [{ name: "Shell", description: "Runs a line.", parameters_schema: { type: "object" } }],
  "POST /v1/conversations": THREAD,
  "GET /v1/conversations": [THREAD],
  "GET /v1/conversations/t1": { ...THREAD, messages: [{ role: "user", content: "hello" }] },
  "POST /v1/runs": HEAD,
  "GET /v1/runs": { runs: [HEAD] },
};

async function catalog() {
  const name = ({ method, url }: Seen): string => `${method} ${url.pathname}`;
  const brain = await scriptedBrain((response, request) => {
    answer(response, 200, (ANSWERS[name(request)] ?? null) as never);
  });
  return { brain, vidro: new Vidro({ url: brain.url, retries: 0 }) };
}

test("agents are listed, found, made, replaced and deleted", async () => {
  const { brain, vidro } = await catalog();
  await using _ = brain;
  const [bunny] = await vidro.agents.list();
  assert.deepEqual(bunny, {
    uuid: AGENT.uuid,
    name: "bunny",
    description: null,
    prompt: "Be careful.",
    image: null,
    model: null,
    tools: ["Shell"],
    createdAt: Date.UTC(2026, 10, 1),
    updatedAt: Date.UTC(2026, 10, 2),
  });
  assert.deepEqual(await vidro.agents.find(AGENT.uuid), bunny);
  assert.deepEqual(await vidro.agents.create({ name: "bunny", prompt: "Be careful." }), bunny);
  assert.deepEqual(await vidro.agents.replace(AGENT.uuid, { name: "bunny", tools: ["Shell"] }), bunny);
  await vidro.agents.delete(AGENT.uuid);
  assert.deepEqual(
    brain.seen.filter(({ body }) => body !== "").map(({ body }) => JSON.parse(body)),
    [
      { name: "bunny", prompt: "Be careful." },
      { name: "bunny", tools: ["Shell"] },
    ],
  );
});

test("tools are listed with the schemas of their input", async () => {
  const { brain, vidro } = await catalog();
  await using _ = brain;
  const tools = await vidro.tools();
  assert.deepEqual(tools, [{ name: "Shell", description: "Runs a line.", parameters: { type: "object" } }]);
});

test("what is said in a conversation is a run of its thread", async () => {
  const { brain, vidro } = await catalog();
  await using _ = brain;
  const talk = await vidro.conversations.create({ agent: AGENT.uuid, tools: ["Shell"] });
  const run = await talk.run("go on");
  assert.equal(run.id, "run_1");
  const bodies = brain.seen.map(({ body }) => JSON.parse(body));
  assert.deepEqual(bodies, [
    { agent_uuid: AGENT.uuid, tools_enabled: ["Shell"] },
    { task: "go on", thread: "t1" },
  ]);
});

test("conversations are listed, and shown with what was said", async () => {
  const { brain, vidro } = await catalog();
  await using _ = brain;
  const [talk] = await vidro.conversations.list();
  assert.deepEqual([talk?.id, talk?.agent, talk?.tools, talk?.messages], ["t1", AGENT.uuid, null, []]);
  assert.deepEqual((await vidro.conversations.find("t1")).messages, [{ role: "user", content: "hello" }]);
});

test("runs are listed as they are asked for", async () => {
  const { brain, vidro } = await catalog();
  await using _ = brain;
  assert.deepEqual(await vidro.list({ open: true, thread: "t1", limit: 5 }), [HEAD]);
  assert.equal(brain.seen[0]?.url.search, "?open=true&thread=t1&limit=5");
});
