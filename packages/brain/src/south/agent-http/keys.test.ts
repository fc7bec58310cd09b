import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { Records } from "@vidro/core";
import { deriveKeys, deriveNextRoot } from "@vidro/core/wire/agent-http";
import { memoryStore } from "../../stores/memory.ts";
import { HandKeys, handOfKey } from "./keys.ts";
import { UsedNonces } from "./nonces.ts";
import { signatureCrypto } from "./signature-crypto.ts";

interface Stage {
  readonly keys: HandKeys;
  readonly records: Records;
  readonly clock: { now: number };
}

function stage(): Stage {
  const clock = { now: 1_000_000 };
  const { records } = memoryStore({ now: () => clock.now });
  const secret = randomBytes(SIGNED_HTTP_LIMITS.keyBytes);
  return { keys: new HandKeys({ records, secret: async () => secret, now: () => clock.now }), records, clock };
}

test("the first key of a hand is known under its id, and its root is not in the store", async () => {
  const { keys, records } = stage();
  const { keyid, root } = await keys.enrol("h1", "ana");
  assert.deepEqual(await keys.keys(keyid), deriveKeys(root, keyid, signatureCrypto));
  assert.deepEqual([handOfKey(keyid), await keys.active("h1"), await keys.owner("h1")], ["h1", keyid, "ana"]);
  const kept = JSON.stringify(await records.list("hand-key", { limit: 10 }));
  assert.ok(!kept.includes(Buffer.from(root).toString("base64")));
  assert.ok(!kept.includes(Buffer.from(root).toString("hex")));
});

test("enrolling again voids the earlier keys", async () => {
  const { keys } = stage();
  const [first, second] = [await keys.enrol("h1", "ana"), await keys.enrol("h1", "ana")];
  assert.equal(await keys.keys(first.keyid), undefined);
  assert.notEqual(await keys.keys(second.keyid), undefined);
});

test("an id of no key has no keys: of no hand, of another hand, and of none at all", async () => {
  const { keys } = stage();
  const { keyid } = await keys.enrol("h1", "ana");
  const id = keyid.slice(keyid.indexOf("/") + 1);
  for (const other of ["", "/", "h1", "h1/", `h2/${id}`, `h1/x${id}`, id, `${keyid}/`, "none/none"])
    assert.equal(await keys.keys(other), undefined, other);
});

test("the next key is the one that the hand derives, and both are valid until it is used", async () => {
  const { keys } = stage();
  const { keyid, root } = await keys.enrol("h1", "ana");
  const next = await keys.rotate("h1");
  assert.equal(next.from, keyid);
  const derived = deriveNextRoot(root, Buffer.from(next.salt, "base64"), {
    keyid: next.keyid,
    crypto: signatureCrypto,
  });
  assert.deepEqual(await keys.keys(next.keyid), deriveKeys(derived, next.keyid, signatureCrypto));
  assert.notEqual(await keys.keys(keyid), undefined);
  assert.deepEqual(await keys.next("h1"), next, "it is told again until it is used");
  assert.equal(await keys.active("h1"), keyid, "messages to the hand still go out with the old key");
});

test("the first use of the next key retires the old one, which ends after the overlap, to the millisecond", async () => {
  const { keys, clock } = stage();
  const { keyid } = await keys.enrol("h1", "ana");
  const next = await keys.rotate("h1");
  await keys.noteUse(next.keyid);
  assert.equal(await keys.active("h1"), next.keyid);
  assert.equal(await keys.next("h1"), undefined);
  clock.now += SIGNED_HTTP_LIMITS.overlapMs - 1;
  assert.notEqual(await keys.keys(keyid), undefined);
  clock.now += 1;
  assert.equal(await keys.keys(keyid), undefined);
  assert.notEqual(await keys.keys(next.keyid), undefined);
});

test("using a key again, or an old one, changes nothing", async () => {
  const { keys, records } = stage();
  const { keyid } = await keys.enrol("h1", "ana");
  const next = await keys.rotate("h1");
  await keys.noteUse(keyid);
  assert.deepEqual(await keys.next("h1"), next, "the old key says nothing about the next one");
  await keys.noteUse(next.keyid);
  const before = await records.get("hand-key", "h1");
  await keys.noteUse(next.keyid);
  await keys.noteUse(keyid);
  assert.equal((await records.get("hand-key", "h1"))?.version, before?.version);
});

test("of two uses of the next key at the same time both succeed", async () => {
  const { keys } = stage();
  await keys.enrol("h1", "ana");
  const next = await keys.rotate("h1");
  await Promise.all([keys.noteUse(next.keyid), keys.noteUse(next.keyid), keys.noteUse(next.keyid)]);
  assert.equal(await keys.active("h1"), next.keyid);
});

test("rotating twice before the hand has come: only the last next key counts", async () => {
  const { keys } = stage();
  const { keyid } = await keys.enrol("h1", "ana");
  const [first, second] = [await keys.rotate("h1"), await keys.rotate("h1")];
  assert.equal(await keys.keys(first.keyid), undefined);
  assert.equal(second.from, keyid);
  assert.deepEqual(await keys.next("h1"), second);
});

test("of two rotations at the same time at most one is told to the hand", async () => {
  const { keys } = stage();
  await keys.enrol("h1", "ana");
  const results = await Promise.allSettled([keys.rotate("h1"), keys.rotate("h1")]);
  const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.keyid] : []));
  assert.ok(made.length >= 1);
  const valid = await Promise.all(made.map((keyid) => keys.keys(keyid)));
  assert.equal(valid.filter((found) => found !== undefined).length, 1);
});

test("revoking ends every key of the hand, and neither use nor rotation brings one back", async () => {
  const { keys } = stage();
  const { keyid } = await keys.enrol("h1", "ana");
  const next = await keys.rotate("h1");
  await keys.revoke("h1");
  for (const id of [keyid, next.keyid]) assert.equal(await keys.keys(id), undefined);
  await keys.noteUse(next.keyid);
  assert.equal(await keys.keys(next.keyid), undefined);
  await assert.rejects(keys.rotate("h1"), { code: "HAND_REVOKED" });
  await assert.rejects(keys.active("h1"), { code: "HAND_REVOKED" });
});

test("a hand without keys is not found", async () => {
  const { keys } = stage();
  for (const work of [keys.owner("h9"), keys.active("h9"), keys.rotate("h9"), keys.revoke("h9"), keys.noteUse("h9/k")])
    await assert.rejects(work, { code: "NOT_FOUND" });
  assert.equal(await keys.next("h9"), undefined);
});

test("keys of another home, or copied to another hand's record, cannot be used", async () => {
  const { keys, records, clock } = stage();
  const { keyid } = await keys.enrol("h1", "ana");
  const { keyid: other } = await keys.enrol("h2", "ana");
  const [one, two] = [await records.get("hand-key", "h1"), await records.get("hand-key", "h2")];
  assert.ok(one !== undefined && two !== undefined);
  const [mine] = one.body["keys"] as { root: string }[];
  const [theirs] = two.body["keys"] as { root: string }[];
  await records.put({
    kind: "hand-key",
    id: "h2",
    owner: "ana",
    body: { keys: [{ ...theirs, root: mine?.root ?? "" }] },
  });
  await assert.rejects(keys.keys(other), { code: "STORE_UNREADABLE" });
  const foreign = new HandKeys({ records, secret: async () => randomBytes(32), now: () => clock.now });
  await assert.rejects(foreign.keys(keyid), { code: "STORE_UNREADABLE" });
});

test("a nonce counts once for each key, also for a second brain on the same store", async () => {
  const { records, clock } = stage();
  const [nonces, second] = [1, 2].map(() => new UsedNonces(records, () => clock.now)) as [UsedNonces, UsedNonces];
  const claim = { created: 1, keyid: "h1/k1", digest: "", mac: "", params: "", nonce: "n1" };
  assert.deepEqual(
    [await nonces.isFirst(claim), await nonces.isFirst(claim), await second.isFirst(claim)],
    [true, false, false],
  );
  assert.ok(await nonces.isFirst({ ...claim, keyid: "h2/k1" }));
  const same = await Promise.all([1, 2, 3].map(() => nonces.isFirst({ ...claim, nonce: "n2" })));
  assert.equal(same.filter(Boolean).length, 1);
});

test("nonces are forgotten only when no message with them is accepted any more, and their number shrinks", async () => {
  const { records, clock } = stage();
  const nonces = new UsedNonces(records, () => clock.now);
  const claim = { created: 1, keyid: "h1/k1", digest: "", mac: "", params: "" };
  for (let number = 0; number < 10; number++) await nonces.isFirst({ ...claim, nonce: `n${number}` });
  clock.now += SIGNED_HTTP_LIMITS.nonceMs;
  await nonces.isFirst({ ...claim, nonce: "edge" });
  assert.equal((await records.list("nonce", { limit: 100 })).length, 11);
  clock.now += 1;
  for (let number = 0; number < 3; number++) await nonces.isFirst({ ...claim, nonce: `m${number}` });
  const left = (await records.list("nonce", { limit: 100 })).map(({ id }) => id.split(" ")[1] ?? "");
  assert.deepEqual(
    left.toSorted((a, b) => a.localeCompare(b)),
    ["edge", "m0", "m1", "m2"],
  );
});

test("when the store fails, a nonce is not called new", async () => {
  const { records, clock } = stage();
  const failing: Records = { ...records, put: () => Promise.reject(new Error("disk")) };
  const nonces = new UsedNonces(failing, () => clock.now);
  const claim = { created: 1, keyid: "h1/k1", digest: "", mac: "", params: "", nonce: "n" };
  await assert.rejects(nonces.isFirst(claim), /disk/);
});
