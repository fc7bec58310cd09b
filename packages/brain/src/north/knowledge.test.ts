import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Vidro } from "@vidro/client";
import type { JsonObject } from "@vidro/core";
import { Served } from "../http/served.fixture.ts";
import { sqliteKnowledge } from "../knowledge/sqlite-knowledge.ts";
import { knowledgeSurface } from "./knowledge.ts";

/** A brain whose only surface is that of the knowledge, and tokens of two owners. */
async function stage(t: TestContext) {
  const knowledge = sqliteKnowledge(":memory:");
  const served = await Served.up({ surfaces: [knowledgeSurface({ knowledge })] });
  t.after(async () => {
    await served[Symbol.asyncDispose]();
    await knowledge.close();
  });
  const tokenOf = async (owner: string, scopes: readonly string[]): Promise<{ readonly authorization: string }> => ({
    authorization: `Bearer ${(await served.tokens.create({ owner, scopes })).token}`,
  });
  return { served, knowledge, tokenOf };
}

const idIn = ({ id }: JsonObject): string => (typeof id === "string" ? id : "");
const titles = ({ json }: { json: JsonObject }): unknown => (json["entries"] as JsonObject[]).map(({ title }) => title);

test("000-06 entries are added, searched, shown, verified and removed over HTTP", async (t) => {
  const { served, tokenOf } = await stage(t);
  const person = { headers: await tokenOf("ada", ["runs", "approve"]) };
  const made = await served.call("POST", "/v1/knowledge", {
    ...person,
    body: { title: "Portas do serviço", tags: ["rede"], snippet: "Ouve na 9042." },
  });
  assert.equal(made.status, 201);
  const { id: _, at: __, ...rest } = made.json;
  assert.deepEqual(rest, {
    owner: "ada",
    title: "Portas do serviço",
    tags: ["rede"],
    snippet: "Ouve na 9042.",
    status: "unverified",
    source: null,
    trust: "person",
  });
  const path = `/v1/knowledge/${idIn(made.json)}`;
  assert.equal(made.headers.get("location"), path);
  assert.deepEqual((await served.call("GET", path)).json, made.json);
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge?q=PORTA%20servico")), ["Portas do serviço"]);
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge?status=verified")), []);
  assert.equal((await served.call("POST", `${path}/verify`, person)).json["status"], "verified");
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge?status=verified&q=porta")), ["Portas do serviço"]);
  assert.equal((await served.call("DELETE", path)).status, 200);
  assert.equal((await served.call("GET", path)).status, 404);
});

test("only a token that may approve verifies; what another token adds is a program's", async (t) => {
  const { served } = await stage(t);
  const program = await served.call("POST", "/v1/knowledge", { body: { title: "a" } });
  assert.equal(program.json["trust"], "program");
  const verified = await served.call("POST", "/v1/knowledge", { body: { title: "b", status: "verified" } });
  assert.equal(verified.status, 403);
  assert.equal((await served.call("POST", `/v1/knowledge/${idIn(program.json)}/verify`)).status, 403);
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge")), ["a"]);
});

test("an owner neither sees nor changes the entries of another; an administrator sees all", async (t) => {
  const { served, tokenOf } = await stage(t);
  const bob = { headers: await tokenOf("bob", ["runs", "approve"]) };
  const id = idIn((await served.call("POST", "/v1/knowledge", { body: { title: "of ada" } })).json);
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/verify"],
  ])
    assert.equal((await served.call(method ?? "", `/v1/knowledge/${id}${path}`, bob)).status, 404);
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge", bob)), []);
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge?q=ada", bob)), []);
  const admin = { headers: await tokenOf("root", ["*"]) };
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge", admin)), ["of ada"]);
  assert.deepEqual(titles(await served.call("GET", "/v1/knowledge?q=ada", admin)), ["of ada"]);
});

test("lists and searches go on page by page, and the client reads them to the end", async (t) => {
  const { served } = await stage(t);
  const vidro = new Vidro({ url: served.server.url, token: served.token, retries: 0 });
  for (let n = 1; n <= 7; n += 1) await vidro.knowledge.add({ title: `disk ${n}`, tags: ["t"] });
  const first = await served.call("GET", "/v1/knowledge?limit=3");
  assert.deepEqual(titles(first), ["disk 7", "disk 6", "disk 5"]);
  const next = first.headers.get("x-next-cursor") ?? "";
  assert.deepEqual(titles(await served.call("GET", `/v1/knowledge?limit=3&after=${next}`)), [
    "disk 4",
    "disk 3",
    "disk 2",
  ]);
  assert.equal((await vidro.knowledge.list()).length, 7);
  const found: string[] = [];
  for (let after: string | undefined; found.length < 7;) {
    const page = await vidro.knowledge.search("disks", { limit: 2, ...(after === undefined ? {} : { after }) });
    found.push(...page.map(({ title }) => title));
    after = page.at(-1)?.id;
  }
  assert.deepEqual(found, ["disk 7", "disk 6", "disk 5", "disk 4", "disk 3", "disk 2", "disk 1"]);
  assert.equal((await served.call("GET", "/v1/knowledge?after=kb_gone")).status, 404);
  assert.equal((await served.call("GET", "/v1/knowledge?q=disk&after=kb_gone")).status, 404);
});

test("what is no entry is refused and the field is named", async (t) => {
  const { served } = await stage(t);
  const table: readonly (readonly [JsonObject, string])[] = [
    [{}, "title"],
    [{ title: " " }, "title"],
    [{ title: "x".repeat(501) }, "title"],
    [{ title: "x", tags: Array.from({ length: 21 }, String) }, "tags"],
    [{ title: "x", snippet: "x".repeat(8193) }, "snippet"],
    [{ title: "x", status: "sure" }, "status"],
    [{ title: "x", owner: "root" }, "owner"],
  ];
  for (const [body, field] of table) {
    const refused = await served.call("POST", "/v1/knowledge", { body });
    assert.equal(refused.status, 422, JSON.stringify(body));
    assert.match(refused.text, new RegExp(field));
  }
  assert.equal((await served.call("GET", "/v1/knowledge?q=")).status, 422);
  assert.equal((await served.call("GET", "/v1/knowledge?status=sure")).status, 422);
});
