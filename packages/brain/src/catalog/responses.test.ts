import assert from "node:assert/strict";
import { test } from "node:test";
import { folder } from "../stores/journal.fixture.ts";
import { memoryStore } from "../stores/memory.ts";
import { sqliteStore } from "../stores/sqlite.ts";
import { StoredResponses } from "./responses.ts";
import type { StoredResponse } from "./responses.ts";
import { join } from "node:path";

const RESPONSE: StoredResponse = {
  id: "resp_1",
  owner: "ana",
  run: "run_1",
  after: 0,
  model: "bunny",
  createdAt: 1_700_000_000,
  echo: { instructions: null, metadata: { "a b": "ç" }, tools: [] },
};

test("a response comes back as it was stored, also from the store of a process before", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const first = await sqliteStore(path);
  await new StoredResponses(first.records).put(RESPONSE);
  await first.close();
  const second = await sqliteStore(path);
  assert.deepEqual(await new StoredResponses(second.records).find("resp_1", "ana"), RESPONSE);
  await second.close();
});

test("a response that is stored again is the later one", async () => {
  const responses = new StoredResponses(memoryStore().records);
  await responses.put(RESPONSE);
  await responses.put({ ...RESPONSE, after: 7 });
  assert.equal((await responses.find("resp_1", "ana")).after, 7);
});

test("another owner's response is neither found nor deleted, in the words for one that is not there", async () => {
  const responses = new StoredResponses(memoryStore().records);
  await responses.put(RESPONSE);
  const words = (id: string) => ({ code: "NOT_FOUND", message: `There is no stored response "${id}".` });
  await assert.rejects(responses.find("resp_1", "bob"), words("resp_1"));
  await assert.rejects(responses.delete("resp_1", "bob"), words("resp_1"));
  await assert.rejects(responses.find("resp_2", "ana"), words("resp_2"));
  assert.deepEqual(await responses.find("resp_1", "ana"), RESPONSE);
});

test("a deleted response is gone, and deleting it again is NOT_FOUND", async () => {
  const responses = new StoredResponses(memoryStore().records);
  await responses.put(RESPONSE);
  await responses.delete("resp_1", "ana");
  await assert.rejects(responses.find("resp_1", "ana"), { code: "NOT_FOUND" });
  await assert.rejects(responses.delete("resp_1", "ana"), { code: "NOT_FOUND" });
});

test("a response larger than a record may be is refused, and none of it is kept", async () => {
  const responses = new StoredResponses(memoryStore().records);
  const echo = { instructions: "x".repeat(64 * 1024 * 1024) };
  await assert.rejects(responses.put({ ...RESPONSE, echo }), { code: "PAYLOAD_TOO_LARGE" });
  await assert.rejects(responses.find("resp_1", "ana"), { code: "NOT_FOUND" });
});
