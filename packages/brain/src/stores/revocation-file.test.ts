import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { HOUR_MS, RECORD_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";
import { folder } from "./journal.fixture.ts";
import { memoryStore } from "./memory.ts";
import { mirrorRevocations } from "./revocation-file.ts";

const TOKEN = { kind: "token", id: "t1", owner: "ana" };
const BAR = { kind: "hand-bar", id: "h1", owner: "ana" };

type Logged = readonly [event: string, fields: { readonly [name: string]: string }];

/** Opens records over the file; what is logged is in `logged`. */
async function mirrored(file: string, records: Records): Promise<{ records: Records; logged: Logged[] }> {
  const logged: Logged[] = [];
  return { records: await mirrorRevocations(records, file, (...line) => logged.push(line)), logged };
}

test("a store from a backup made before the revocation revokes again, and says so", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const backup = memoryStore().records;
  const [live] = [memoryStore().records];
  for (const records of [backup, live]) await records.put({ ...TOKEN, body: { hash: "x" } });
  const { records } = await mirrored(file, live);
  await records.put({ ...TOKEN, body: { hash: "x", revoked: true } });
  await records.put({ ...BAR, body: { barred: "revoked", why: "lost", secret: "not for the file" } });
  const restored = await mirrored(file, backup);
  assert.deepEqual((await restored.records.get("token", "t1"))?.body, { hash: "x", revoked: true });
  assert.deepEqual((await restored.records.get("hand-bar", "h1"))?.body, { barred: "revoked", why: "lost" });
  assert.deepEqual(
    restored.logged.map(([event, { id }]) => `${event} ${id}`),
    ["revocation.reapplied t1", "revocation.reapplied h1"],
  );
  assert.ok(!readFileSync(file, "utf8").includes("not for the file"));
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("opening again changes nothing, and a token that the store does not know is left out", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const { records } = await mirrored(file, memoryStore().records);
  await records.put({ ...TOKEN, body: { revoked: true } });
  const again = await mirrored(file, records);
  assert.deepEqual(again.logged, []);
  const empty = await mirrored(file, memoryStore().records);
  assert.equal(await empty.records.get("token", "t1"), undefined);
  assert.deepEqual(empty.logged, []);
});

test("what does not revoke is not in the file", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const { records } = await mirrored(file, memoryStore().records);
  await records.put({ ...TOKEN, body: { revoked: false } });
  await records.put({ ...BAR, body: { barred: "paused" } });
  await records.put({ kind: "invitation", id: "i", owner: "ana", body: { used: "no" } });
  await records.put({ kind: "agent", id: "a", owner: "ana", body: { revoked: true } });
  assert.throws(() => statSync(file), { code: "ENOENT" });
});

test("a line that a crash cut off is passed over, and does not swallow the next revocation", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const { records } = await mirrored(file, memoryStore().records);
  await records.put({ ...BAR, body: { barred: "revoked" } });
  appendFileSync(file, '{"kind":"hand-bar","id":"h2","own');
  await records.put({ ...BAR, id: "h3", body: { barred: "revoked" } });
  const restored = await mirrored(file, memoryStore().records);
  assert.deepEqual(
    restored.logged.map(([, { id }]) => id),
    ["h1", "h3"],
  );
});

test("rubbish in the file revokes nothing and does not keep the brain from starting", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const lines = [
    "",
    "null",
    "[]",
    "\0\0",
    '{"kind":"hand-bar"}',
    '{"kind":"hand-bar","id":5,"owner":"a","body":{"barred":"revoked"}}',
    '{"kind":"hand-bar","id":"h","owner":"a","body":{"barred":"paused"}}',
    '{"kind":"agent","id":"h","owner":"a","body":{"revoked":true}}',
    '{"kind":"constructor","id":"h","owner":"a","body":{}}',
    '{"kind":"toString","id":"h","owner":"a","body":{}}',
  ];
  writeFileSync(file, lines.join("\n"));
  const { logged, records } = await mirrored(file, memoryStore().records);
  assert.deepEqual(logged, []);
  for (const kind of ["hand-bar", "agent", "constructor", "toString"])
    assert.deepEqual(await records.list(kind, { limit: 10 }), [], kind);
});

test("a file that cannot be read stops the start: revoked tokens might be accepted", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  mkdirSync(file);
  await assert.rejects(mirrored(file, memoryStore().records), { code: "EISDIR" });
});

test("a revocation holds in the store although its line cannot be written, and that is logged", async () => {
  using place = folder();
  const { records, logged } = await mirrored(join(place.path, "missing", "revoked"), memoryStore().records);
  await records.put({ ...TOKEN, body: { revoked: true } });
  assert.deepEqual((await records.get("token", "t1"))?.body, { revoked: true });
  assert.deepEqual(
    logged.map(([event, { kind }]) => [event, kind]),
    [["revocation.not_mirrored", "token"]],
  );
});

test("a change that the store refuses is not in the file", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const { records } = await mirrored(file, memoryStore().records);
  await assert.rejects(records.put({ ...TOKEN, body: { revoked: true } }, 5), { code: "CONFLICT" });
  assert.throws(() => statSync(file), { code: "ENOENT" });
});

const linesIn = (file: string): readonly string[] => readFileSync(file, "utf8").split("\n").filter(Boolean);
const barLine = (id: string): string => JSON.stringify({ ...BAR, id, body: { barred: "revoked" } });

test("a record has one line, however often it is written", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const { records } = await mirrored(file, memoryStore().records);
  for (let time = 0; time < 5; time += 1) await records.put({ ...BAR, body: { barred: "revoked", why: `${time}` } });
  assert.equal(linesIn(file).length, 1);
});

test("a file of repeated and expired lines is written anew at the next start, and revokes the same", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const now = Date.now();
  const used = (id: string, until: number): string =>
    JSON.stringify({ kind: "invitation", id, owner: "ana", body: { used: true }, until });
  const lines = Array.from({ length: 1500 }, (_, index) => [
    barLine("h1"),
    used(`old${index}`, now - 48 * HOUR_MS),
  ]).flat();
  writeFileSync(file, [...lines, used("new", now), barLine("h2")].join("\n"));
  const { logged } = await mirrored(file, memoryStore().records);
  assert.deepEqual(
    linesIn(file).map((line) => (JSON.parse(line) as { id: string }).id),
    ["h1", "new", "h2"],
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(place.path), ["revoked"]);
  assert.deepEqual(
    logged.map(([event, { id }]) => `${event} ${id}`),
    ["revocation.reapplied h1", "revocation.reapplied h2"],
  );
});

test("a full file drops invitations and tokens, says so, and keeps every hand", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const most = RECORD_LIMITS.revocations;
  const hands = Array.from({ length: 50 }, (_, index) => barLine(`h${index}`));
  const tokens = Array.from({ length: most - hands.length }, (_, index) =>
    JSON.stringify({ ...TOKEN, id: `t${index}`, body: { revoked: true } }),
  );
  writeFileSync(file, [...hands, ...tokens].join("\n"));
  const { records, logged } = await mirrored(file, memoryStore().records);
  await records.put({ ...BAR, id: "last", body: { barred: "revoked" } });
  const kept = linesIn(file);
  assert.ok(kept.length <= most * 0.9 + 1, `${kept.length} lines`);
  const dropped = logged.find(([event]) => event === "revocation.not_mirrored");
  assert.match(dropped?.[1]["reason"] ?? "", /full/);
  const ids = new Set(kept.map((line) => (JSON.parse(line) as { id: string }).id));
  for (const id of [...hands.map((_, index) => `h${index}`), "last", `t${tokens.length - 1}`])
    assert.ok(ids.has(id), id);
  assert.ok(!ids.has("t0"));
  const restored = await mirrored(file, memoryStore().records);
  for (const id of ["h0", "h49", "last"])
    assert.deepEqual((await restored.records.get("hand-bar", id))?.body, { barred: "revoked" }, id);
});

test("a file that hands alone fill keeps them, and the next revocation is logged as missing from it", async () => {
  using place = folder();
  const file = join(place.path, "revoked");
  const lines = Array.from({ length: RECORD_LIMITS.revocations }, (_, index) => barLine(`h${index}`));
  writeFileSync(file, lines.join("\n"));
  const store = memoryStore().records;
  const { records, logged } = await mirrored(file, store);
  logged.length = 0;
  await records.put({ ...BAR, id: "late", body: { barred: "revoked" } });
  assert.equal(linesIn(file).length, lines.length);
  assert.deepEqual((await store.get("hand-bar", "late"))?.body, { barred: "revoked" });
  assert.deepEqual(
    logged.map(([event, { kind }]) => [event, kind]),
    [["revocation.not_mirrored", "hand-bar"]],
  );
});
