import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
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
