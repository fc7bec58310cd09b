import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Fault, SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";
import { folder } from "../../stores/journal.fixture.ts";
import { memoryStore } from "../../stores/memory.ts";
import { sqliteStore } from "../../stores/sqlite.ts";
import { HandAddresses } from "./direct-call.ts";
import { UsedNonces } from "./nonces.ts";

type Claim = Parameters<UsedNonces["isFirst"]>[0];
const claim = (nonce: string | undefined, keyid = "key_1"): Claim => ({ keyid, nonce }) as Claim;

test("a nonce is taken once for each key, also by two that come at once and by the next process", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const first = await sqliteStore(path);
  const nonces = new UsedNonces(first.records, Date.now);
  const both = await Promise.all([nonces.isFirst(claim("n")), nonces.isFirst(claim("n"))]);
  assert.deepEqual(both.toSorted(), [false, true]);
  assert.equal(await nonces.isFirst(claim("n", "key_2")), true);
  await first.close();
  const second = await sqliteStore(path);
  assert.equal(await new UsedNonces(second.records, Date.now).isFirst(claim("n")), false);
  await second.close();
});

test("a message without a nonce is taken once, too", async () => {
  const nonces = new UsedNonces(memoryStore().records, Date.now);
  assert.deepEqual([await nonces.isFirst(claim(undefined)), await nonces.isFirst(claim(undefined))], [true, false]);
  assert.equal(await nonces.isFirst(claim("")), false);
});

test("a nonce that its time has passed is forgotten, more of them than come anew, and no other", async () => {
  const clock = { now: 1_000_000 };
  const { records } = memoryStore({ now: () => clock.now });
  const nonces = new UsedNonces(records, () => clock.now);
  for (let at = 0; at < 20; at += 1) await nonces.isFirst(claim(`old${at}`));
  clock.now += SIGNED_HTTP_LIMITS.nonceMs;
  await nonces.isFirst(claim("bound"));
  const kept = async (): Promise<number> => (await records.list("nonce", { limit: 100 })).length;
  assert.ok((await kept()) >= 20, "those at the bound are kept");
  clock.now += 1000;
  for (let at = 0; at < 6; at += 1) await nonces.isFirst(claim(`new${at}`));
  assert.ok((await kept()) < 20, `${await kept()} are kept`);
  for (let at = 0; at < 6; at += 1) assert.equal(await nonces.isFirst(claim(`new${at}`)), false);
});

test("a key that is used too often is refused, and another key is not", async () => {
  const clock = { now: 0 };
  const nonces = new UsedNonces(memoryStore().records, () => clock.now);
  for (let at = 0; at < SIGNED_HTTP_LIMITS.burst; at += 1) await nonces.isFirst(claim(`n${at}`));
  await assert.rejects(nonces.isFirst(claim("over")), { code: "RATE_LIMITED" });
  assert.equal(await nonces.isFirst(claim("over", "key_2")), true);
  clock.now += SIGNED_HTTP_LIMITS.everyMs;
  assert.equal(await nonces.isFirst(claim("over")), true, "a refused message has not used its nonce");
});

test("when the store fails, no message is taken for the first", async () => {
  const { records } = memoryStore();
  const failing: Records = {
    get: (kind, id) => records.get(kind, id),
    list: (kind, filter) => records.list(kind, filter),
    delete: (kind, id) => records.delete(kind, id),
    watch: (kind, wake) => records.watch(kind, wake),
    put: () => Promise.reject(new Fault("STORE_UNREACHABLE")),
  };
  await assert.rejects(new UsedNonces(failing, Date.now).isFirst(claim("n")), { code: "STORE_UNREACHABLE" });
});

test("a hand is called only where an administrator allowed that hand, and no more once it is taken back", async () => {
  const addresses = new HandAddresses(memoryStore().records);
  const url = "https://host.example:8443";
  assert.equal(await addresses.isAllowed("h1", url), false);
  await addresses.allow("h1", "ana", url);
  assert.deepEqual([await addresses.isAllowed("h1", url), await addresses.isAllowed("h2", url)], [true, false]);
  for (const other of [`${url}/`, "https://host.example", "http://host.example:8443", `${url}.evil.example`])
    assert.equal(await addresses.isAllowed("h1", other), false, other);
  await addresses.allow("h1", "ana", "https://other.example");
  assert.equal(await addresses.isAllowed("h1", url), false);
  await addresses.allow("h1", "ana", undefined);
  await addresses.allow("h1", "ana", undefined);
  assert.equal(await addresses.isAllowed("h1", "https://other.example"), false);
});

test("an address with more than scheme, host and port, or one that is not safe to call, is refused", async () => {
  const addresses = new HandAddresses(memoryStore().records);
  const refused = [
    "",
    "host.example",
    "ftp://host.example",
    "http://host.example",
    "http://10.0.0.1:8080",
    "https://ana:secret@host.example",
    "https://host.example/path",
    "https://host.example?x=1",
    "https://host.example#x",
    "https://169.254.169.254",
    "https://[fe80::1]",
    "https://[::ffff:169.254.169.254]",
    "https://0.0.0.0",
    "https://224.0.0.1",
    "javascript:alert(1)",
  ];
  for (const url of refused) {
    await assert.rejects(addresses.allow("h1", "ana", url), { code: "BAD_REQUEST" }, url);
    assert.equal(await addresses.isAllowed("h1", url), false);
  }
  for (const url of ["https://10.0.0.1:8443", "http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:2"]) {
    await addresses.allow("h1", "ana", url);
    assert.equal(await addresses.isAllowed("h1", url), true, url);
  }
});
