import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { calls, text } from "../support/fake-openai.ts";
import type { FakeRequest } from "../support/fake-openai.ts";
import { startFrontEndServer } from "../support/front-end-server.ts";
import type { FrontEndServer } from "../support/front-end-server.ts";
import { BUNNY, BUNNY_UUID } from "../../packages/brain/src/catalog/agent.ts";

/* Contract 003 over real sockets: a front end, a brain with the hand of this machine, and the server of a model. */

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const say = (content: string): JsonObject => ({ model: "bunny", messages: [{ role: "user", content }] });

async function begin(brain: FrontEndServer, body: JsonObject = {}): Promise<string> {
  const { status, json } = await brain.ask("POST", "/conversations", { body });
  assert.equal(status, 200);
  assert.ok(isObject(json) && typeof json["thread_uuid"] === "string");
  return json["thread_uuid"];
}

/** The names of the tools that the model's server was offered, those that only talk to the brain left out. */
function offered({ body }: FakeRequest): readonly unknown[] {
  const control = ["plan", "ask", "observe", "commit_kb", "tool_spec", "use_tool"];
  return functionsOf(body).flatMap(({ name }) => (control.includes(String(name)) ? [] : [name]));
}

function functionsOf({ tools }: JsonObject): readonly { name?: unknown }[] {
  assert.ok(Array.isArray(tools));
  return (tools as { function: { name?: unknown } }[]).map((tool) => tool.function);
}

function messagesOf({ body }: FakeRequest): readonly { readonly role: string; readonly content?: string }[] {
  return body["messages"] as never;
}

suite("agents", () => {
  test("003-01 003-02 003-03 the list of agents has the fields of the contract, with null where nothing was said", async (t) => {
    const brain = await startFrontEndServer(t);
    const token = await brain.token("root", "agents:write", "runs");
    const made = await brain.ask("POST", "/agents", { token, body: { name: "plain", description: null } });
    assert.equal(made.status, 201);
    const { status, json } = await brain.ask("GET", "/agents");
    assert.equal(status, 200);
    assert.ok(Array.isArray(json));
    const agents = json as { readonly [field: string]: string | null }[];
    assert.deepEqual(
      agents.map(({ name }) => name),
      ["bunny", "plain", "scout"],
    );
    for (const agent of agents) {
      assert.match(agent["uuid"] ?? "", UUID);
      assert.match(agent["created_at"] ?? "", ISO);
      assert.match(agent["updated_at"] ?? "", ISO);
    }
    const { uuid, name, description, prompt, image } = agents[1]!;
    assert.match(uuid ?? "", UUID);
    assert.deepEqual(
      { name, description, prompt, image },
      { name: "plain", description: null, prompt: null, image: null },
    );
    assert.equal(agents[0]?.["prompt"], BUNNY.prompt);
  });

  test("003-04 an agent is found by its uuid, and an unknown uuid is 404", async (t) => {
    const brain = await startFrontEndServer(t);
    const found = await brain.ask("GET", `/agents/${BUNNY_UUID}`);
    assert.equal(found.status, 200);
    assert.ok(isObject(found.json) && found.json["name"] === "bunny");
    const unknown = await brain.ask("GET", "/agents/00000000-0000-4000-8000-000000000000");
    assert.equal(unknown.status, 404);
    assert.deepEqual(unknown.json, {
      error: {
        message: 'There is no agent "00000000-0000-4000-8000-000000000000".',
        type: "invalid_request_error",
        param: null,
        code: "NOT_FOUND",
      },
    });
  });

  test("agents are made, replaced and forgotten by callers with the scope for it", async (t) => {
    const brain = await startFrontEndServer(t);
    const token = await brain.token("root", "agents:write", "runs");
    const draft = {
      name: "doc",
      prompt: "You write.",
      tools: ["read_file"],
      image: "https://pictures.example/doc.png",
    };
    assert.equal((await brain.ask("POST", "/agents", { body: draft })).status, 403);
    const made = await brain.ask("POST", "/agents", { token, body: draft });
    const path = String(made.headers.get("location")).replace("/v1", "");
    assert.equal((await brain.ask("POST", "/agents", { token, body: { name: "DOC" } })).status, 409);
    const wrong = await brain.ask("POST", "/agents", { token, body: { name: "other", tools: ["fly"] } });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /\\"fly\\"/);
    const replaced = await brain.ask("PUT", path, { token, body: { name: "doc", prompt: "You write well." } });
    assert.ok(isObject(replaced.json) && replaced.json["prompt"] === "You write well.");
    assert.equal(replaced.json["tools"], null);
    assert.equal((await brain.ask("PUT", path, { token, body: { name: "documenter" } })).status, 409);
    assert.equal((await brain.ask("DELETE", path, { token })).status, 200);
    assert.equal((await brain.ask("GET", path)).status, 404);
    assert.equal((await brain.ask("DELETE", `/agents/${BUNNY_UUID}`, { token })).status, 409);
  });
});

suite("conversations", () => {
  test("003-05 a conversation is made with an agent and tools, and its uuid is the answer", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const thread = await begin(brain, { agent_uuid: BUNNY_UUID, tools_enabled: ["read_file", "shell"] });
    assert.match(thread, UUID);
    await brain.ask("POST", `/conversations/${thread}/messages`, { body: say("hello") });
    assert.deepEqual(offered(brain.fake.requests[0]!), ["shell", "read_file"]);
  });

  test("003-05 the official client makes and reads a conversation", async (t) => {
    const { client } = await startFrontEndServer(t);
    const made = await client.conversations.create({ metadata: { project: "disks" } });
    assert.equal(made.object, "conversation");
    assert.deepEqual(made.metadata, { project: "disks" });
    assert.ok(Math.abs(made.created_at - Date.now() / 1000) < 60);
    assert.deepEqual((await client.conversations.retrieve(made.id)).metadata, { project: "disks" });
  });

  test("003-06 003-15 without an agent a conversation is with bunny, who has all its tools", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const thread = await begin(brain, { agent_uuid: null });
    await brain.ask("POST", `/conversations/${thread}/messages`, { body: say("hello") });
    const [request] = brain.fake.requests;
    assert.deepEqual(
      offered(request!),
      brain.hand.tools.map((tool) => tool.name),
    );
    assert.ok(messagesOf(request!)[0]?.content?.startsWith(BUNNY.prompt));
  });

  test("003-07 without a list of tools a conversation has those of its agent, and an empty list means none", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const own = await begin(brain, { agent_uuid: "scout" });
    await brain.ask("POST", `/conversations/${own}/messages`, { body: say("look") });
    const none = await begin(brain, { agent_uuid: "scout", tools_enabled: [] });
    await brain.ask("POST", `/conversations/${none}/messages`, { body: say("look") });
    const [first, second] = brain.fake.requests;
    const scout = (await brain.ask("GET", "/agents/scout")).json as { tools: readonly string[] };
    assert.deepEqual(new Set(offered(first!)), new Set(scout.tools));
    assert.ok(!functionsOf(first!.body).some(({ name }) => name === "tool_spec"), "scout runs no commands");
    assert.equal(second!.body["tools"], undefined, "no control tools either");
  });

  test("003-05 a tool or an agent that there is not is refused by name", async (t) => {
    const brain = await startFrontEndServer(t);
    const tool = await brain.ask("POST", "/conversations", { body: { tools_enabled: ["shell", "teleport"] } });
    assert.equal(tool.status, 422);
    assert.match(tool.text, /teleport/);
    assert.equal((await brain.ask("POST", "/conversations", { body: { agent_uuid: "nobody" } })).status, 404);
  });

  test("003-20 what was said is told to the model with the next message, and is there to be read", async (t) => {
    const brain = await startFrontEndServer(
      t,
      calls({ id: "c1", name: "working_directory", input: "{}" }),
      calls({ id: "c2", name: "read_file", input: '{"file_path":"map.txt"}' }),
      text("Here."),
      text("Yes, as I said."),
    );
    const thread = await begin(brain);
    const path = `/conversations/${thread}`;
    await brain.ask("POST", `${path}/messages`, { body: say("where are we?") });
    // A client that keeps the conversation sends all of it again; only its last message is new.
    const whole = ["where are we?", "Here.", "sure?"].map((content, at) => ({
      role: at === 1 ? "assistant" : "user",
      content,
    }));
    await brain.ask("POST", `${path}/messages`, { body: { model: "bunny", messages: whole } });
    const told = messagesOf(brain.fake.requests.at(-1)!).filter(({ role }) => role !== "system");
    assert.deepEqual(
      told.map(({ role, content }) => [role, content]),
      [
        ["user", "where are we?"],
        ["assistant", null],
        ["tool", brain.workspace],
        ["assistant", null],
        ["tool", told[4]?.["content"]],
        ["assistant", "Here."],
        ["user", "sure?"],
      ],
    );
    const { json } = await brain.ask("GET", path);
    assert.ok(isObject(json) && Array.isArray(json["messages"]));
    const messages = json["messages"] as JsonObject[];
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content]),
      [
        ["user", "where are we?"],
        ["assistant", null],
        ["tool", brain.workspace],
        ["assistant", null],
        ["tool", messages[4]?.["content"]],
        ["assistant", "Here."],
        ["user", "sure?"],
        ["assistant", "Yes, as I said."],
      ],
    );
    assert.match(JSON.stringify(messages[4]), /"TOOL_FAILED: /);
    const listed = await brain.ask("GET", "/conversations");
    assert.ok(Array.isArray(listed.json) && listed.json.length === 1);
  });

  test("003-20 a conversation outlives the brain, with what its first message brought along", async (t) => {
    const brain = await startFrontEndServer(t, text("Tea."), text("As I said: tea."));
    const thread = await begin(brain);
    const brought = [
      { role: "user", content: "coffee?" },
      { role: "assistant", content: "No." },
      { role: "user", content: "what then?" },
    ];
    await brain.ask("POST", `/conversations/${thread}/messages`, { body: { model: "bunny", messages: brought } });
    const other = await brain.restarted();
    await other.ask("POST", `/conversations/${thread}/messages`, { body: say("again?") });
    assert.deepEqual(
      messagesOf(brain.fake.requests[1]!).flatMap(({ role, content }) => (role === "system" ? [] : [content])),
      ["coffee?", "No.", "what then?", "Tea.", "again?"],
    );
  });

  test("another owner's conversation is not found", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const thread = await begin(brain);
    const token = await brain.token("bob", "runs");
    assert.equal((await brain.ask("GET", `/conversations/${thread}`, { token })).status, 404);
    const spoken = await brain.ask("POST", `/conversations/${thread}/messages`, { token, body: say("hi") });
    assert.equal(spoken.status, 404);
    assert.deepEqual((await brain.ask("GET", "/conversations", { token })).json, []);
  });
});

suite("tools", () => {
  test("003-13 003-15 the functions that a model is offered are made from the tools that the front end lists", async (t) => {
    const brain = await startFrontEndServer(t, text("ok"));
    const { json } = await brain.ask("GET", "/tools");
    assert.ok(Array.isArray(json));
    const listed = json as { name: string; description: string; parameters_schema: JsonObject }[];
    assert.deepEqual(
      listed.map((tool) => tool.name),
      brain.hand.tools.map((tool) => tool.name),
    );
    await brain.client.chat.completions.create({ model: "bunny", messages: [{ role: "user", content: "hello" }] });
    const functions = new Map(functionsOf(brain.fake.requests[0]!.body).map((each) => [each.name, each]));
    for (const { name, description, parameters_schema: parameters } of listed)
      assert.deepEqual(functions.get(name), { name, description, parameters });
  });

  test("003-19 every route of the contract lies under /v1, and nothing answers without a token", async (t) => {
    const brain = await startFrontEndServer(t);
    const root = brain.url.replace(/\/v1$/, "");
    for (const path of ["/agents", "/tools", "/conversations", "/models"]) {
      assert.equal((await brain.ask("GET", path)).status, 200);
      assert.equal((await fetch(`${root}${path}`)).status, 404);
      const stranger = await fetch(`${root}/v1${path}`);
      assert.equal(stranger.status, 401);
      assert.equal(((await stranger.json()) as { error: { type: string } }).error.type, "authentication_error");
    }
  });
});
