import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JsonObject } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { UNASKED_EVENTS } from "../webhooks/webhooks.ts";
import { servedDaemon } from "./served-daemon.fixture.ts";
import type { ServedDaemon } from "./served-daemon.fixture.ts";

let daemon: ServedDaemon;
before(async () => (daemon = await servedDaemon({ localHand: false })));
after(() => daemon[Symbol.asyncDispose]());

const rows = async (): Promise<readonly JsonObject[]> =>
  (await daemon.ask("GET", "/v1/webhooks")).json["webhooks"] as readonly JsonObject[];

test("a webhook is added with the events that concern a person, and its secret is shown once", async () => {
  const made = await daemon.ask("POST", "/v1/webhooks", { url: "HTTP://127.0.0.1:9/a b" });
  assert.equal(made.status, 201);
  const { secret, ...row } = made.json;
  assert.ok(typeof secret === "string");
  assert.match(secret, /^whsec_[\w+/]{43}=$/);
  assert.deepEqual([row["url"], row["owner"], row["events"]], ["http://127.0.0.1:9/a%20b", "local", UNASKED_EVENTS]);
  assert.deepEqual(await rows(), [row]);
  const gone = await daemon.ask("DELETE", `/v1/webhooks/${textOrEmpty(row, "id")}`);
  assert.deepEqual([gone.status, gone.json], [200, { id: row["id"], removed: true }]);
  assert.deepEqual(await rows(), []);
  const again = await daemon.ask("DELETE", `/v1/webhooks/${textOrEmpty(row, "id")}`);
  assert.deepEqual([again.status, again.json["code"]], [404, "NOT_FOUND"]);
});

test("an address that no message could be sent to is refused, and so are events that do not exist", async () => {
  const url = "http://127.0.0.1:9/";
  const refused: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, /url/],
    [{ url: "" }, /url/],
    [{ url: 7 }, /url/],
    [{ url: "127.0.0.1:9" }, /begins with http/],
    [{ url: "file:///etc/passwd" }, /begins with http/],
    [{ url: "javascript:alert(1)" }, /begins with http/],
    [{ url: "http://" }, /begins with http/],
    [{ url: "http://ana:pw@127.0.0.1/" }, /has no user and password/],
    [{ url: "http://ana@127.0.0.1/" }, /has no user and password/],
    [{ url: `http://127.0.0.1/${"x".repeat(5000)}` }, /url/],
    [{ url, events: [] }, /events/],
    [{ url, events: ["run.exploded"] }, /events/],
    [{ url, events: ["run.finished", "run.finished"] }, /events/],
    [{ url, events: "run.finished" }, /events/],
    [{ url, secret: "mine" }, /secret/],
  ];
  for (const [body, words] of refused) {
    const { status, json } = await daemon.ask("POST", "/v1/webhooks", body);
    assert.equal(status, json["code"] === "BAD_ARGUMENTS" ? 422 : 400, JSON.stringify(body).slice(0, 80));
    assert.match(JSON.stringify(json), words);
  }
  assert.deepEqual(await rows(), []);
});

test("only an administrator adds, lists or removes webhooks", async () => {
  const ana = await daemon.tokenOf("ana", ["runs", "approve"]);
  const asked = [
    daemon.ask("GET", "/v1/webhooks", undefined, ana),
    daemon.ask("POST", "/v1/webhooks", { url: "http://127.0.0.1:9/" }, ana),
    daemon.ask("DELETE", "/v1/webhooks/webhook_1", undefined, ana),
  ];
  for (const { status, json } of await Promise.all(asked)) assert.deepEqual([status, json["code"]], [403, "FORBIDDEN"]);
});
