import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { HANDSHAKE_REVISIONS, META_KEYS, metaOf, MODERN_REVISION, RPC_CODES } from "@vidro/core/wire/mcp";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

let daemon: ServedDaemon;
let [ana, bea] = ["", ""];
before(async () => {
  daemon = await servedDaemon();
  [ana, bea] = [await daemon.tokenOf("ana"), await daemon.tokenOf("bea")];
});
after(() => daemon[Symbol.asyncDispose]());

type Headers = { readonly [name: string]: string };

/** Posts a body as it is; the answer is read from JSON or from the last event of a stream. */
async function post(body: Json, headers: Headers = {}, token = ana): Promise<{ status: number; json: JsonObject }> {
  const response = await fetch(`${daemon.url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const last = isStream ? (text.trim().split("\n\n").at(-1) ?? "").replace(/^event: message\ndata: /, "") : text;
  return { status: response.status, json: last === "" ? {} : (JSON.parse(last) as JsonObject) };
}

const request = (method: string, params: JsonObject = {}): JsonObject => ({ jsonrpc: "2.0", id: 1, method, params });
const errorOf = ({ error }: JsonObject): JsonObject => (isObject(error) ? error : {});

/** The result of a call of a tool. */
async function call(name: string, input: JsonObject = {}, { headers = {}, token = ana } = {}) {
  const { json } = await post(request("tools/call", { name, arguments: input }), headers, token);
  assert.ok(isObject(json["result"]), JSON.stringify(json));
  const {
    content,
    structuredContent: data,
    isError = false,
  } = json["result"] as unknown as {
    content: { text: string }[];
    structuredContent: JsonObject;
    isError?: boolean;
  };
  return { text: content[0]?.text ?? "", data, isError };
}

/** Params and headers of a request that stands for itself. */
function modern(method: string, params: JsonObject = {}, name?: string): { body: JsonObject; headers: Headers } {
  const meta = { [META_KEYS.revision]: MODERN_REVISION, [META_KEYS.capabilities]: {} };
  const mirrored = { "mcp-protocol-version": MODERN_REVISION, "mcp-method": method };
  return {
    body: request(method, { ...params, _meta: meta }),
    headers: name === undefined ? mirrored : { ...mirrored, "mcp-name": name },
  };
}

test("a client that asks for a revision gets it, and one that asks for an unknown one the newest", async () => {
  const agreed = async (protocolVersion: Json): Promise<Json | undefined> => {
    const { json } = await post(request("initialize", { protocolVersion, capabilities: {} }));
    return isObject(json["result"]) ? json["result"]["protocolVersion"] : undefined;
  };
  for (const revision of HANDSHAKE_REVISIONS) assert.equal(await agreed(revision), revision);
  for (const other of ["1999-01-01", MODERN_REVISION, 7, null])
    assert.equal(await agreed(other), HANDSHAKE_REVISIONS[0]);
});

test("a message that needs no answer gets none", async () => {
  for (const body of [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 4, result: {} },
    { jsonrpc: "2.0", id: 4, error: { code: -1, message: "no" } },
  ])
    assert.deepEqual(await post(body), { status: 202, json: {} });
});

test("what is no message is refused with the id that it has, if it has one", async () => {
  const refused: readonly (readonly [JsonObject, Json | undefined])[] = [
    [{}, undefined],
    [{ id: 5 }, 5],
    [{ jsonrpc: "1.0", id: "a", method: "ping" }, "a"],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, undefined],
    [{ jsonrpc: "2.0", id: { a: 1 }, method: "ping" }, undefined],
    [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, 1.5],
    [{ jsonrpc: "2.0", id: 6, method: "ping", params: [] }, 6],
    [{ jsonrpc: "2.0", id: 6, method: 7 }, 6],
  ];
  for (const [body, id] of refused) {
    const { status, json } = await post(body);
    assert.deepEqual([status, json["id"], errorOf(json)["code"]], [400, id, RPC_CODES.request], JSON.stringify(body));
  }
  const batch = await post([request("ping")]);
  assert.ok(batch.status >= 400 && batch.json["error"] !== undefined, "several messages at once are none");
});

test("a method that is not there is refused in each era, also one that every object has", async () => {
  for (const method of ["tools/none", "constructor", "__proto__", "toString", "subscriptions/listen", ""]) {
    const { status, json } = await post(request(method));
    assert.deepEqual([status, errorOf(json)["code"]], [200, RPC_CODES.method], method);
  }
  for (const method of ["initialize", "ping", "hasOwnProperty"]) {
    const { body, headers } = modern(method);
    const { status, json } = await post(body, headers);
    assert.deepEqual([status, errorOf(json)["code"]], [404, RPC_CODES.method], method);
  }
  const long = await post(request("x".repeat(500)));
  assert.ok(textOrEmpty(errorOf(long.json), "message").length < 100, "a long name is not sent back whole");
});

test("a cursor, an unknown tool and arguments that are no object are bad params", async () => {
  const wrong: readonly (readonly [string, JsonObject, RegExp])[] = [
    ["tools/list", { cursor: "next" }, /one page of tools/],
    ["tools/call", {}, /There is no tool null/],
    ["tools/call", { name: "shell" }, /There is no tool "shell"/],
    ["tools/call", { name: 7 }, /There is no tool 7/],
    ["tools/call", { name: "list_hands", arguments: [] }, /arguments must be an object/],
    ["tools/call", { name: "list_hands", arguments: "all" }, /arguments must be an object/],
  ];
  for (const [method, params, words] of wrong) {
    const old = await post(request(method, params));
    assert.deepEqual([old.status, errorOf(old.json)["code"]], [200, RPC_CODES.params], JSON.stringify(params));
    assert.match(textOrEmpty(errorOf(old.json), "message"), words);
    const { body, headers } = modern(method, params, textOrEmpty(params, "name") || undefined);
    assert.equal((await post(body, headers)).status, 400, JSON.stringify(params));
  }
});

test("a request that stands for itself has to say in its headers what its body says", async () => {
  const { body, headers } = modern("tools/call", { name: "list_hands" }, "list_hands");
  const good = await post(body, headers);
  assert.equal(good.status, 200);
  assert.partialDeepStrictEqual(good.json, { result: { resultType: "complete" } });
  const without = (name: string): Headers =>
    Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  const meta = (changes: JsonObject): JsonObject =>
    request("tools/call", {
      name: "list_hands",
      _meta: { ...metaOf(body["params"] as JsonObject), ...changes },
    });
  const wrong: readonly (readonly [JsonObject, Headers, number])[] = [
    [body, without("mcp-protocol-version"), RPC_CODES.headers],
    [body, without("mcp-method"), RPC_CODES.headers],
    [body, without("mcp-name"), RPC_CODES.headers],
    [body, { ...headers, "mcp-name": "run_command" }, RPC_CODES.headers],
    [body, { ...headers, "mcp-name": "=?base64?!!?=" }, RPC_CODES.headers],
    [body, { ...headers, "mcp-method": "tools/list" }, RPC_CODES.headers],
    [meta({ [META_KEYS.revision]: 7 }), headers, RPC_CODES.params],
    [meta({ [META_KEYS.capabilities]: "all" }), headers, RPC_CODES.params],
    [request("tools/call", { name: "list_hands" }), headers, RPC_CODES.params],
    [
      meta({ [META_KEYS.revision]: "2030-01-01" }),
      { ...headers, "mcp-protocol-version": "2030-01-01" },
      RPC_CODES.revision,
    ],
  ];
  for (const [given, sent, code] of wrong) {
    const { status, json } = await post(given, sent);
    assert.deepEqual([status, json["id"], errorOf(json)["code"]], [400, 1, code], JSON.stringify([given, sent]));
  }
  const encoded = { ...headers, "mcp-name": `=?base64?${btoa("list_hands")}?=` };
  assert.equal((await post(body, encoded)).status, 200);
});

test("arguments that do not fit the tool are told as its outcome, so that a model can mend them", async () => {
  const wrong: readonly (readonly [string, JsonObject])[] = [
    ["run_task", {}],
    ["run_task", { task: "" }],
    ["run_task", { task: "look", wait_s: -1 }],
    ["run_task", { task: "look", wait_s: 1e9 }],
    ["run_task", { task: "look", model: "mine" }],
    ["run_command", { command: [] }],
    ["run_command", { command: "ls" }],
    ["follow_task", { run: "run_1", after: -1 }],
    ["answer_task", { run: "run_1", question: "q_1" }],
    ["search_knowledge", { query: "x".repeat(501) }],
    ["list_hands", { select: "" }],
  ];
  for (const [name, input] of wrong) {
    const { text, data, isError } = await call(name, input);
    assert.ok(isError && text.startsWith("BAD_ARGUMENTS: "), `${name} ${text}`);
    assert.partialDeepStrictEqual(data, { error: { code: "BAD_ARGUMENTS" } });
  }
});

test("a task is waited for as long as asked, also for a part of a millisecond, and followed to its end", async () => {
  for (const wait of [0, 0.0004, 0.0015]) {
    const begun = await call("run_task", { task: "what time is it?", wait_s: wait });
    const run = textOrEmpty(begun.data, "run");
    assert.match(run, /^run_/, begun.text);
    const ended = await call("follow_task", { run });
    assert.deepEqual([ended.data["status"], ended.isError], ["finished", false], ended.text);
    // The end is told again, whatever the client says that it knows.
    for (const known of [0, ended.data["seq"] ?? 0, 1_000_000])
      assert.equal((await call("follow_task", { run, after: known })).text, ended.text);
  }
});

test("a client that takes no stream gets the outcome as one JSON answer", async () => {
  const { text, data } = await call(
    "run_task",
    { task: "what time is it?" },
    { headers: { accept: "application/json" } },
  );
  assert.deepEqual([data["status"], data["result"]], ["finished", text]);
});

test("progress is told under the client's token before the answer, and not without one", async () => {
  const messages = async (meta: JsonObject): Promise<readonly JsonObject[]> => {
    const response = await fetch(`${daemon.url}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${ana}`, "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify(
        request("tools/call", { name: "run_task", arguments: { task: "what time is it?" }, _meta: meta }),
      ),
    });
    const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("event: message"));
    return events.map((event) => JSON.parse(event.slice(event.indexOf("{"))) as JsonObject);
  };
  const told = await messages({ progressToken: 0 });
  const steps = told.slice(0, -1).map(({ params }) => params as unknown as { progressToken: number; progress: number });
  assert.ok(steps.length > 1);
  assert.ok(steps.every(({ progressToken }) => progressToken === 0));
  assert.ok(
    steps.every(({ progress }, place) => place === 0 || progress > steps[place - 1]!.progress),
    "it grows",
  );
  assert.equal(told.at(-1)?.["id"], 1);
  assert.equal((await messages({})).length, 1);
});

test("a command tells its exit, its output and whether it failed", async () => {
  const good = await call("run_command", { command: ["uname"] });
  assert.partialDeepStrictEqual(good.data, { exit_code: 0, stdout: "Linux\n", timed_out: false, truncated: false });
  assert.equal(good.isError, false);
  const bad = await call("run_command", { command: ["ls", "/no/such/folder"] });
  assert.equal(bad.isError, true, bad.text);
  assert.match(textOrEmpty(bad.data, "stderr") + bad.text, /no\/such\/folder/);
});

test("a run of another owner is as one that is not there, to follow, to answer and to stop", async () => {
  const { data } = await call("run_task", { task: "what time is it?" });
  const run = textOrEmpty(data, "run");
  for (const [name, input] of [
    ["follow_task", { run }],
    ["answer_task", { run, question: "q_1", answer: "yes" }],
    ["abort_task", { run }],
  ] as const) {
    const foreign = await call(name, input, { token: bea });
    assert.ok(foreign.isError && foreign.text.startsWith("NOT_FOUND: "), foreign.text);
    const none = await call(name, { ...input, run: "run_none" });
    assert.ok(none.isError && none.text.startsWith("NOT_FOUND: "), none.text);
  }
  assert.equal((await call("follow_task", { run }, { token: daemon.admin })).isError, false);
});

test("a task, thread, agent, hand or folder that a caller may not use is refused as the outcome of the call", async () => {
  const wrong: readonly (readonly [JsonObject, RegExp])[] = [
    [{ agent: "nobody" }, /^NOT_FOUND/],
    [{ hand: "no-such-host" }, /^NOT_FOUND/],
    [{ thread: "thread_none" }, /^NOT_FOUND/],
    [{ workspace: "/" }, /^FORBIDDEN/],
    [{ task: " \n" }, /^BAD_REQUEST/],
  ];
  for (const [more, words] of wrong) {
    const { text, isError } = await call("run_task", { task: "look", ...more });
    assert.ok(isError);
    assert.match(text, words);
  }
});

test("hands are listed with their state, and a selector that fits none is refused", async () => {
  const { text, data } = await call("list_hands");
  assert.equal(text, "local: ok");
  assert.equal((data["hands"] as unknown[]).length, 1);
  const none = await call("list_hands", { select: "no-such-host" });
  assert.ok(none.isError || none.text === "[there are no hands]", none.text);
  assert.equal((await call("search_knowledge", { query: "glass" })).text, "[nothing is known about that]");
});
