import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { fakeOpenAi, text } from "../../../../../tests/support/fake-openai.ts";
import type { FakeOpenAi } from "../../../../../tests/support/fake-openai.ts";
import { servedDaemon } from "../served-daemon.fixture.ts";
import type { ServedDaemon } from "../served-daemon.fixture.ts";

let [daemon, server]: [ServedDaemon | undefined, FakeOpenAi | undefined] = [undefined, undefined];
let [ana, bea] = ["", ""];
before(async () => {
  server = await fakeOpenAi(text("done"));
  daemon = await servedDaemon({ env: { VIDRO_MODEL: "test", VIDRO_MODEL_URL: server.url } });
  [ana, bea] = [await daemon.tokenOf("ana"), await daemon.tokenOf("bea")];
});
after(async () => {
  await daemon?.[Symbol.asyncDispose]();
  await server?.close();
});

const ask = (method: string, path: string, body?: JsonObject, token = ana) => daemon!.ask(method, path, body, token);

/** A response that is whole; gives its id. */
async function responded(input: string | JsonObject[], more: JsonObject = {}): Promise<string> {
  const { status, json } = await ask("POST", "/v1/responses", { input, ...more });
  assert.deepEqual([status, json["status"]], [200, "completed"], JSON.stringify(json));
  return textOrEmpty(json, "id");
}

interface ItemList {
  readonly data: readonly { readonly id: string; readonly role?: string; readonly content?: readonly JsonObject[] }[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

async function itemsOf(id: string, query = ""): Promise<ItemList> {
  const { status, json } = await ask("GET", `/v1/responses/${id}/input_items${query}`);
  assert.equal(status, 200, JSON.stringify(json));
  return json as unknown as ItemList;
}

const words = ({ data }: ItemList): readonly unknown[] => data.map(({ content }) => content?.[0]?.["text"]);

/** A conversation of so many turns that its client keeps. */
const turns = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: `turn ${at}` }));

test("what a response was made from is listed newest first, or oldest first, with the ids by which a list goes on", async () => {
  const id = await responded(turns(5));
  const newest = await itemsOf(id);
  assert.deepEqual(words(newest), ["turn 4", "turn 3", "turn 2", "turn 1", "turn 0"]);
  const oldest = await itemsOf(id, "?order=asc");
  assert.deepEqual(words(oldest), words(newest).toReversed());
  assert.deepEqual([oldest.first_id, oldest.last_id], [oldest.data[0]?.id, oldest.data.at(-1)?.id]);
  assert.equal(oldest.has_more, false);
});

test("a long list is read page by page, each item once, in both orders", async () => {
  const id = await responded(turns(41));
  for (const order of ["asc", "desc"])
    for (const limit of [1, 7, 20, 41, 100]) {
      const seen: unknown[] = [];
      for (let from = ""; ;) {
        const page = await itemsOf(id, `?order=${order}&limit=${limit}${from}`);
        assert.ok(page.data.length <= limit);
        seen.push(...words(page));
        if (!page.has_more) break;
        from = `&after=${page.last_id}`;
      }
      const all = Array.from({ length: 41 }, (_, at) => `turn ${at}`);
      assert.deepEqual(seen, order === "asc" ? all : all.toReversed(), `${order} by ${limit}`);
    }
  assert.equal((await itemsOf(id)).data.length, 20, "twenty when no limit is given");
});

test("limits, orders and places that there are not are refused", async () => {
  const id = await responded("hi");
  for (const query of ["limit=0", "limit=101", "limit=x", "order=up", "after=", "more=1"]) {
    const { status } = await ask("GET", `/v1/responses/${id}/input_items?${query}`);
    assert.ok(status === 400 || status === 422, `${query}: ${status}`);
  }
  assert.equal((await ask("GET", `/v1/responses/${id}/input_items?after=item_none_0`)).status, 404);
});

test("another owner's response is as one that is not there: to see, to list, to cancel, to delete, to go on from", async () => {
  const id = await responded("hi");
  const wishes: readonly (readonly [method: string, path: string, body?: JsonObject])[] = [
    ["GET", `/v1/responses/${id}`],
    ["GET", `/v1/responses/${id}/input_items`],
    ["POST", `/v1/responses/${id}/cancel`, {}],
    ["DELETE", `/v1/responses/${id}`],
    ["POST", "/v1/responses", { input: "and?", previous_response_id: id }],
  ];
  for (const token of [bea, daemon!.admin])
    for (const [method, path, body] of wishes) {
      const { status, json } = await ask(method, path, body, token);
      assert.equal(status, 404, `${method} ${path}: ${JSON.stringify(json)}`);
    }
  assert.equal((await ask("GET", `/v1/responses/${id}`)).status, 200);
});

test("a response that is not stored, or was deleted, cannot be come back to", async () => {
  const { json } = await ask("POST", "/v1/responses", { input: "hi", store: false });
  assert.equal((await ask("GET", `/v1/responses/${textOrEmpty(json, "id")}`)).status, 404);
  const id = await responded("hi");
  assert.deepEqual((await ask("DELETE", `/v1/responses/${id}`)).json, { id, object: "response", deleted: true });
  for (const [method, path] of [
    ["GET", `/v1/responses/${id}`],
    ["DELETE", `/v1/responses/${id}`],
    ["GET", `/v1/responses/${id}/input_items`],
  ] as const)
    assert.equal((await ask(method, path)).status, 404, `${method} ${path}`);
});

test("a response goes on from another with all that was said, and is listed with it", async () => {
  const first = await responded("one");
  const second = await responded("two", { previous_response_id: first });
  assert.deepEqual(words(await itemsOf(second, "?order=asc")), ["one", "done", "two"]);
  assert.deepEqual(words(await itemsOf(first, "?order=asc")), ["one"], "the first is left as it was");
});

test("a request that goes on from two things, or asks for what there is not, is refused at its field", async () => {
  const id = await responded("hi");
  const conversation = textOrEmpty((await ask("POST", "/v1/conversations", {})).json, "id");
  const refused: readonly (readonly [body: JsonObject, param: string])[] = [
    [{ input: "x", previous_response_id: id, conversation }, "previous_response_id"],
    [{ input: "x", background: true, store: false }, "store"],
    [{ input: "x", truncation: "disabled" }, "truncation"],
    [{ input: "x", tool_choice: { type: "function", name: "none" } }, "tool_choice"],
    [{ input: "x", include: ["message.output_text.logprobs"] }, "include"],
    [{ input: [{ type: "item_reference", id: "msg_none" }] }, "input.0"],
  ];
  for (const [body, param] of refused) {
    const { status, json } = await ask("POST", "/v1/responses", body);
    const { error } = json as { error?: { param?: unknown } };
    assert.ok(status >= 400 && status < 500, `${JSON.stringify(body)}: ${status}`);
    assert.equal(error?.param, param, JSON.stringify(json));
  }
});

test("a key that is used again gives the same response, and with another body none", async () => {
  const send = async (body: JsonObject) => {
    const headers = { authorization: `Bearer ${ana}`, "content-type": "application/json", "idempotency-key": "resp-1" };
    const response = await fetch(`${daemon!.url}/v1/responses`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as JsonObject };
  };
  const [one, again] = [await send({ input: "key" }), await send({ input: "key" })];
  assert.deepEqual([again.status, again.json["id"]], [200, one.json["id"]]);
  const other = await send({ input: "another" });
  assert.ok(other.status === 409 || other.status === 422, `${other.status} ${JSON.stringify(other.json)}`);
});
