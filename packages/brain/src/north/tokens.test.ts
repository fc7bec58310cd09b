import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { servedDaemon } from "./served-daemon.fixture.ts";

test("a token is made, works, is listed without its secret, and is refused once it is revoked", async () => {
  await using daemon = await servedDaemon();
  const made = await daemon.ask("POST", "/v1/tokens", { owner: "ana", scopes: ["runs"] });
  const token = textIn(made.json, "token") ?? "";
  assert.deepEqual(
    [made.status, made.json["owner"], made.json["scopes"], made.json["expires_at"]],
    [201, "ana", ["runs"], null],
  );
  assert.equal((await daemon.ask("GET", "/v1/runs", undefined, token)).status, 200);
  const { json } = await daemon.ask("GET", "/v1/tokens");
  const rows = json["tokens"] as JsonObject[];
  assert.deepEqual(
    rows.map(({ owner, revoked }) => [owner, revoked]),
    [
      ["local", false],
      ["ana", false],
    ],
  );
  assert.ok(!JSON.stringify(json).includes(token.split(".")[1] ?? "-"), "no secret is listed");
  const id = textIn(made.json, "token_id") ?? "";
  assert.deepEqual((await daemon.ask("DELETE", `/v1/tokens/${id}`)).json, { token_id: id, revoked: true });
  assert.equal((await daemon.ask("GET", "/v1/runs", undefined, token)).status, 401);
});

test("only an administrator makes, lists or revokes tokens, and a token that could do nothing is refused", async () => {
  await using daemon = await servedDaemon();
  const { json } = await daemon.ask("POST", "/v1/tokens", { owner: "ana" });
  const token = textIn(json, "token") ?? "";
  for (const [method, path, body] of [
    ["GET", "/v1/tokens", undefined],
    ["POST", "/v1/tokens", { role: "admin" }],
    ["DELETE", `/v1/tokens/${textIn(json, "token_id") ?? ""}`, undefined],
  ] as const)
    assert.equal((await daemon.ask(method, path, body, token)).status, 403, `${method} ${path}`);
  assert.equal((await daemon.ask("POST", "/v1/tokens", { scopes: ["No Scope"] })).status, 400);
  assert.equal((await daemon.ask("POST", "/v1/tokens", { expires_at: "2001-01-01T00:00:00Z" })).status, 400);
  assert.equal((await daemon.ask("DELETE", "/v1/tokens/0123")).status, 404);
});

test("an administrator sees store, bus and models, and tries a model; an unknown one is refused by name", async () => {
  await using daemon = await servedDaemon();
  const { json } = await daemon.ask("GET", "/v1/about");
  assert.deepEqual([json["store"], json["bus"], json["models"]], ["sqlite", null, ["offline"]]);
  const { json: trial, status } = await daemon.ask("POST", "/v1/models/test", { model: "offline" });
  assert.deepEqual([status, trial["model"], typeof trial["isRight"]], [200, "offline", "boolean"]);
  const unknown = await daemon.ask("POST", "/v1/models/test", { model: "no-such-model" });
  assert.ok(
    unknown.status >= 400 && /no-such-model/.test(textIn(unknown.json, "error") ?? ""),
    JSON.stringify(unknown),
  );
});
