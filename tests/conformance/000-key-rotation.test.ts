import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { HandEvent } from "@vidro/core";
import { KeyRing } from "../../packages/hands/src/links/agent-http/key-ring.ts";
import { orderOf, sent, signedBytes, SignedBrain, signedHost, signerOf } from "../support/signed-http-harness.ts";
import type { SignedHost, Signer } from "../support/signed-http-harness.ts";
import { temporaryFolder } from "../support/local-runs.ts";

/* The keys of hands: how they lie on disk, how they change, and when the old ones end. */

interface Stage {
  readonly folder: string;
  readonly brain: SignedBrain;
  readonly host: SignedHost;
  readonly first: Signer;
}

async function stage(t: TestContext): Promise<Stage> {
  const folder = temporaryFolder(t);
  const brain = await SignedBrain.open(t, folder);
  const enrolled = await brain.enrol("h1");
  const host = await signedHost(t, enrolled.keyid, enrolled.root);
  return { folder, brain, host, first: signerOf(enrolled) };
}

/** Something is done on the host, so that it has surely asked since. */
async function worked(brain: SignedBrain): Promise<void> {
  const remote = await brain.hands.at("h1");
  let last: HandEvent | undefined;
  for await (const event of remote.perform(orderOf("true"), new AbortController().signal)) last = event;
  assert.equal(last?.type, "finished");
}

async function status(brain: SignedBrain, signer: Signer): Promise<number> {
  const message = { method: "telemetry.push", action_id: "t", payload: {} };
  const { bytes } = signedBytes(signer, { url: `${brain.url}/southbound/v1/messages`, message, now: brain.clock() });
  return (await sent(brain.url, bytes)).status;
}

test("000-53: a hand that is connected gets its next key, uses it, and the old one is good for a day and no longer", async (t) => {
  const { brain, host, first } = await stage(t);
  await host.join(brain.url);
  const { keyid } = await brain.gateway.rotate("h1");
  await worked(brain);
  assert.equal(host.ring.current().keyid, keyid);
  assert.notEqual(keyid, first.keyid);
  assert.equal(await brain.keys.next("h1"), undefined, "the brain has seen it used");
  assert.equal(await status(brain, first), 200, "whatever was on its way is taken");
  assert.equal(await status(brain, host.ring.current()), 200);
  const before = Date.now() + SIGNED_HTTP_LIMITS.overlapMs;
  brain.clock = () => before - 60_000;
  assert.equal(await status(brain, first), 200);
  brain.clock = () => before + 60_000;
  assert.equal(await status(brain, first), 401);
  assert.equal(await status(brain, host.ring.current()), 200);
});

test("000-53: a hand that is away gets its next key when it comes, and of several only the last", async (t) => {
  const { brain, host, first } = await stage(t);
  await brain.gateway.rotate("h1");
  const { keyid } = await brain.gateway.rotate("h1");
  assert.equal(
    await status(brain, first),
    503,
    "the old key is good until the new one is used; it only has not said hello",
  );
  await host.join(brain.url);
  await worked(brain);
  assert.equal(host.ring.current().keyid, keyid);
});

test("000-53: two rotations in a row while the hand is connected leave it with the last key", async (t) => {
  const { brain, host } = await stage(t);
  await host.join(brain.url);
  await Promise.all([worked(brain), brain.gateway.rotate("h1")]);
  const { keyid } = await brain.gateway.rotate("h1");
  await worked(brain);
  await worked(brain);
  assert.equal(host.ring.current().keyid, keyid);
});

test("000-53: a key that the brain never learnt of is given up for the one before", async (t) => {
  const { brain, host, first } = await stage(t);
  await host.ring.add({ keyid: "h1/lost", from: first.keyid, salt: "AAAA" });
  await host.join(brain.url);
  assert.equal(host.ring.current().keyid, first.keyid);
  await worked(brain);
});

test("000-53, 000-56: keys lie encrypted in the brain's store, and in files that only their owner reads", async (t) => {
  const { folder, brain, host, first } = await stage(t);
  await brain.keys.rotate("h1");
  const record = await brain.records.get("hand-key", "h1");
  assert.ok(record !== undefined);
  const { root } = await brain.keys.enrol("h2", "ana");
  const store = readdirSync(folder)
    .filter((name) => name.startsWith("journal.db"))
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join();
  assert.ok(
    !store.includes(Buffer.from(root).toString("base64")) && !store.includes(Buffer.from(root).toString("latin1")),
  );
  assert.equal(statSync(join(folder, "south.key")).mode & 0o777, 0o600);
  const ring = join(temporaryFolder(t), "ring.json");
  await KeyRing.create(ring, { keyid: first.keyid, root: "AAAA" });
  assert.equal(statSync(ring).mode & 0o777, 0o600);
  assert.ok(host.ring.find(first.keyid) !== undefined);
});

test("000-53: when the secret of the home is another, no key opens and nothing is taken", async (t) => {
  const { folder, brain, first } = await stage(t);
  const file = join(folder, "south.key");
  chmodSync(file, 0o644);
  writeFileSync(file, Buffer.alloc(SIGNED_HTTP_LIMITS.keyBytes));
  assert.equal(await status(brain, first), 500);
  assert.equal(statSync(file).mode & 0o777, 0o600, "the file is closed to other users again");
  writeFileSync(file, "short");
  assert.equal(await status(brain, first), 500);
});

test("000-53: revoked keys end at once, and a new enrolment ends the keys before", async (t) => {
  const { brain, first } = await stage(t);
  assert.equal(await status(brain, first), 503);
  const second = signerOf(await brain.keys.enrol("h1", "ana"));
  assert.equal(await status(brain, first), 401);
  assert.equal(await status(brain, second), 503);
  await brain.keys.revoke("h1");
  assert.equal(await status(brain, second), 401);
  await assert.rejects(brain.keys.rotate("h1"), { code: "HAND_REVOKED" });
  await assert.rejects(brain.keys.rotate("h9"), { code: "NOT_FOUND" });
});

test("000-53: a hand that cannot change its key by itself is not left with two", async (t) => {
  const { brain, first } = await stage(t);
  const message = { method: "hello", agent_id: "h1", name: "x", version: "1", capabilities: ["command.exec"] };
  const { bytes } = signedBytes(first, { url: `${brain.url}/southbound/v1/messages`, message });
  assert.equal((await sent(brain.url, bytes)).status, 200);
  await assert.rejects(brain.gateway.rotate("h1"), { code: "CONFLICT" });
  assert.equal(await brain.keys.next("h1"), undefined);
});
