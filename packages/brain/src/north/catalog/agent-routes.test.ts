import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CATALOG_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { BUNNY_UUID } from "../../catalog/agent.ts";
import { servedDaemon } from "../served-daemon.fixture.ts";
import type { ServedDaemon } from "../served-daemon.fixture.ts";

let daemon: ServedDaemon | undefined;
let [ana, bea, writer] = ["", "", ""];
before(async () => {
  daemon = await servedDaemon();
  [ana, bea] = [await daemon.tokenOf("ana"), await daemon.tokenOf("bea")];
  writer = await daemon.tokenOf("ana", ["runs", "agents:write"]);
});
after(() => daemon?.[Symbol.asyncDispose]());

const ask = (method: string, path: string, body?: JsonObject, token = ana) => daemon!.ask(method, path, body, token);
const codeOf = (json: JsonObject): unknown => {
  const { error } = json as { error?: { code?: string } | string };
  return typeof error === "object" ? error.code : (json["code"] ?? error);
};

test("an agent is made, shown, replaced and forgotten under its uuid, whether its uuid or its name is given", async () => {
  const made = await ask("POST", "/v1/agents", { name: "Redactora", prompt: "Escreve." }, writer);
  assert.equal(made.status, 201);
  const uuid = textOrEmpty(made.json, "uuid");
  assert.deepEqual((await ask("GET", "/v1/agents/redactora")).json, made.json);
  const replaced = await ask("PUT", `/v1/agents/${uuid}`, { name: "redactora", description: "d" }, writer);
  assert.deepEqual(
    [replaced.status, replaced.json["prompt"], replaced.json["description"]],
    [200, null, "d"],
    "what is not given is empty",
  );
  const gone = await ask("DELETE", "/v1/agents/REDACTORA", undefined, writer);
  assert.deepEqual([gone.status, gone.json], [200, { uuid, deleted: true }]);
  assert.equal((await ask("GET", `/v1/agents/${uuid}`)).status, 404);
  assert.equal((await ask("DELETE", `/v1/agents/${uuid}`, undefined, writer)).status, 404);
});

test("a token that only starts runs sees agents and changes none", async () => {
  assert.equal((await ask("GET", "/v1/agents")).status, 200);
  for (const [method, path] of [
    ["POST", "/v1/agents"],
    ["PUT", `/v1/agents/${BUNNY_UUID}`],
    ["DELETE", `/v1/agents/${BUNNY_UUID}`],
  ] as const)
    assert.equal((await ask(method, path, method === "DELETE" ? undefined : { name: "bunny" })).status, 403, method);
});

test("names, texts and tools of an agent are held at their bounds", async () => {
  const name = "n".repeat(CATALOG_LIMITS.nameChars);
  assert.equal(
    (await ask("POST", "/v1/agents", { name, prompt: "p".repeat(CATALOG_LIMITS.promptChars) }, writer)).status,
    201,
  );
  const refused: readonly JsonObject[] = [
    {},
    { name: "" },
    { name: " a" },
    { name: "a " },
    { name: "a\nb" },
    { name: "a\u0000" },
    { name: `${name}n` },
    { name: "x", prompt: "p".repeat(CATALOG_LIMITS.promptChars + 1) },
    { name: "x", tools: ["no_such_tool"] },
  ];
  for (const body of refused) {
    const { status, json } = await ask("POST", "/v1/agents", body, writer);
    assert.ok(
      status === 400 || status === 422,
      `${JSON.stringify(body).slice(0, 60)}: ${status} ${JSON.stringify(json)}`,
    );
  }
  assert.equal((await ask("GET", "/v1/agents/x")).status, 404);
});

test("a name is one agent's, and the agents that the brain defines stay", async () => {
  await ask("POST", "/v1/agents", { name: "Sole" }, writer);
  assert.equal((await ask("POST", "/v1/agents", { name: "sole" }, writer)).status, 409);
  assert.equal((await ask("POST", "/v1/agents", { name: "direct" }, writer)).status, 409);
  assert.equal((await ask("PUT", "/v1/agents/direct", { name: "direct" }, writer)).status, 409);
  assert.equal((await ask("DELETE", "/v1/agents/bunny", undefined, writer)).status, 409);
  assert.equal((await ask("PUT", "/v1/agents/none", { name: "none" }, writer)).status, 404);
});

test("conversations are their owner's: another's is as one that is not there, also to an administrator", async () => {
  const { json } = await ask("POST", "/v1/conversations", { metadata: { topic: "x" } });
  const id = textOrEmpty(json, "id");
  assert.equal((await ask("GET", `/v1/conversations/${id}`)).status, 200);
  for (const token of [bea, daemon!.admin]) {
    const other = await ask("GET", `/v1/conversations/${id}`, undefined, token);
    const none = await ask("GET", "/v1/conversations/none", undefined, token);
    assert.deepEqual([other.status, codeOf(other.json)], [none.status, codeOf(none.json)]);
    assert.equal(other.status, 404);
    const said = await ask(
      "POST",
      `/v1/conversations/${id}/messages`,
      { messages: [{ role: "user", content: "x" }] },
      token,
    );
    assert.equal(said.status, 404);
  }
});

test("conversations are paged newest first, each once, and a cursor of another owner shows none of theirs", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 25; count += 1)
    ids.unshift(textOrEmpty((await ask("POST", "/v1/conversations", {}, bea)).json, "id"));
  const seen: string[] = [];
  for (let cursor = ""; ;) {
    const response = await fetch(`${daemon!.url}/v1/conversations?limit=10${cursor}`, {
      headers: { authorization: `Bearer ${bea}` },
    });
    const page = (await response.json()) as { id: string }[];
    assert.ok(page.length <= 10);
    seen.push(...page.map(({ id }) => id));
    const next = response.headers.get("x-next-cursor");
    if (next === null) break;
    cursor = `&after=${next}`;
  }
  assert.deepEqual(seen, ids);
  const foreign = JSON.stringify((await ask("GET", `/v1/conversations?after=${ids[5]}`)).json);
  assert.ok(ids.every((id) => !foreign.includes(`"id":"${id}"`)));
});

test("what a conversation may not begin with is refused, and nothing is made", async () => {
  const known = (await ask("GET", "/v1/conversations")).json as unknown as unknown[];
  const fields = Object.fromEntries(
    Array.from({ length: CATALOG_LIMITS.metadataFields + 1 }, (_, at) => [`k${at}`, "v"]),
  );
  const refused: readonly JsonObject[] = [
    { agent_uuid: "no such agent" },
    { tools_enabled: ["no_such_tool"] },
    { metadata: { a: 1 } },
    { metadata: { a: "x".repeat(CATALOG_LIMITS.metadataChars + 1) } },
    { metadata: fields },
    { metadata: { hand: "no such hand" } },
    { items: [{ type: "message" }] },
  ];
  for (const body of refused) {
    const { status } = await ask("POST", "/v1/conversations", body);
    assert.ok(status >= 400 && status < 500, `${JSON.stringify(body).slice(0, 60)}: ${status}`);
  }
  const left = (await ask("GET", "/v1/conversations")).json as unknown as unknown[];
  assert.equal(left.length, known.length);
});

test("a key that is used again finds what it made, and with another body it is refused", async () => {
  const send = async (body: JsonObject, token = ana) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": "conv-1",
    };
    const response = await fetch(`${daemon!.url}/v1/conversations`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as JsonObject };
  };
  const [one, again] = [await send({ metadata: { a: "1" } }), await send({ metadata: { a: "1" } })];
  assert.deepEqual(again.json, one.json);
  const other = await send({ metadata: { a: "2" } });
  assert.ok(other.status === 409 || other.status === 422, `${other.status} ${JSON.stringify(other.json)}`);
  const theirs = await send({ metadata: { a: "2" } }, bea);
  assert.notEqual(theirs.json["id"], one.json["id"], "the keys of another owner are another's");
});
