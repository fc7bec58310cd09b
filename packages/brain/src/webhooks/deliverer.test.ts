import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { WEBHOOK_LIMITS } from "@vidro/core";
import type { Entry, Journal } from "@vidro/core";
import { openStore } from "../stores/stores.ts";
import { Deliverer } from "./deliverer.ts";
import { webhookHeaders } from "./signature.ts";
import { Webhooks } from "./webhooks.ts";
import type { Webhook } from "./webhooks.ts";

const DONE = { type: "run.finished", result: "ok" } as unknown as Entry["event"];
const entry = (seq: number): Entry => ({ seq, at: 1000, event: DONE });

/** A journal in which every run has ten entries, all of them its end. */
const JOURNAL = {
  head: async (run: string) => ({ id: run, seq: 10, owner: "ada", thread: "t", task: "a task", status: "finished" }),
  read: async (_run: string, after: number) => [entry(after + 1)],
} as unknown as Pick<Journal, "head" | "read">;

/** Webhooks on a store in memory, with a clock that stands still until it is moved. */
async function brain(t: TestContext) {
  const store = await openStore("memory", "");
  const clock = { now: 1_000_000 };
  const webhooks = new Webhooks(store.records, () => clock.now);
  await webhooks.open();
  const gaveUp: string[] = [];
  const deliverer = new Deliverer({
    webhooks,
    journal: JOURNAL,
    now: () => clock.now,
    gaveUp: (_hook, { seq }, reason) => void gaveUp.push(`${seq}: ${reason}`),
  });
  t.after(async () => {
    await deliverer.close();
    webhooks.close();
    await store.close();
  });
  /** Records the messages about entries of a run. */
  const record = async (run: string, entries: readonly Entry[]): Promise<void> => {
    for (const message of webhooks.messagesAbout(run, entries)) await store.records.put(message);
  };
  return { webhooks, deliverer, clock, gaveUp, record, records: store.records };
}

type Answer = (count: number, response: ServerResponse, request: IncomingMessage) => void;

/** A receiver on this machine; it takes every message unless it is told otherwise. */
async function receiver(t: TestContext, answer: Answer = (_, response) => void response.writeHead(204).end()) {
  const got: { seq: number; id: string }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { data } = JSON.parse(await text(request)) as { data: { seq: number } };
    got.push({ seq: data.seq, id: String(request.headers["webhook-id"]) });
    answer(got.length, response, request);
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    got,
    seqs: () => got.map(({ seq }) => seq),
  };
}

const EVENTS: Pick<Webhook, "events"> = { events: ["run.finished"] };

describe("messages to webhooks", () => {
  it("are sent in their order, each once, and forgotten when they were taken", async (t) => {
    const { webhooks, deliverer, record } = await brain(t);
    const { url, seqs } = await receiver(t);
    const hook = await webhooks.add({ url, ...EVENTS }, "ada");
    await record("run_1", [entry(1), entry(2), entry(3)]);
    await deliverer.look();
    await deliverer.look();
    assert.deepEqual(seqs(), [1, 2, 3]);
    assert.deepEqual(await webhooks.waiting(hook.id), []);
  });

  it("are sent again under the same id after growing delays, and given up after the last", async (t) => {
    const { webhooks, deliverer, clock, gaveUp, record } = await brain(t);
    const { url, got } = await receiver(t, (_, response) => void response.writeHead(500).end());
    await webhooks.add({ url, ...EVENTS }, "ada");
    await record("run_1", [entry(1)]);
    for (const delayMs of WEBHOOK_LIMITS.delaysMs) {
      await deliverer.look();
      const before = got.length;
      clock.now += delayMs - 1;
      await deliverer.look();
      assert.equal(got.length, before, "not before its time");
      clock.now += 1;
    }
    await deliverer.look();
    assert.equal(got.length, WEBHOOK_LIMITS.delaysMs.length + 1);
    assert.equal(new Set(got.map(({ id }) => id)).size, 1);
    assert.deepEqual(gaveUp, ["1: status 500"]);
    await deliverer.look();
    assert.equal(got.length, WEBHOOK_LIMITS.delaysMs.length + 1);
  });

  it("of one receiver that is down hold up no other, however many they are", async (t) => {
    const { webhooks, deliverer, record } = await brain(t);
    const healthy = await receiver(t);
    const down = await webhooks.add({ url: "http://127.0.0.1:1/", ...EVENTS }, "ada");
    for (let run = 0; run < 300; run += 1) await record(`run_${run}`, [entry(1)]);
    await deliverer.look();
    await webhooks.add({ url: healthy.url, ...EVENTS }, "ada");
    await record("run_last", [entry(7)]);
    await deliverer.look();
    assert.deepEqual(healthy.seqs(), [7]);
    assert.equal((await webhooks.waiting(down.id)).length, 301);
  });

  it("of a receiver that never answers do not keep the others waiting for it", async (t) => {
    const { webhooks, deliverer, record } = await brain(t);
    const taken = Promise.withResolvers<void>();
    const hanging = await receiver(t, () => undefined);
    const healthy = await receiver(t, (_, response) => {
      response.writeHead(200).end();
      taken.resolve();
    });
    await webhooks.add({ url: hanging.url, ...EVENTS }, "ada");
    await webhooks.add({ url: healthy.url, ...EVENTS }, "ada");
    await record("run_1", [entry(1)]);
    const look = deliverer.look();
    await taken.promise;
    await deliverer.close();
    await look;
    assert.deepEqual(healthy.seqs(), [1]);
  });

  it("of a receiver that did not answer are tried one at a time, and all when it is back", async (t) => {
    const { webhooks, deliverer, clock, record } = await brain(t);
    let isUp = false;
    const { url, got } = await receiver(t, (_, response) => void (isUp ? response.end() : response.destroy()));
    await webhooks.add({ url, ...EVENTS }, "ada");
    await record("run_1", [entry(1), entry(2), entry(3)]);
    const next = await deliverer.look();
    assert.equal(got.length, 1);
    assert.equal(next, clock.now + WEBHOOK_LIMITS.delaysMs[0]);
    await deliverer.look();
    assert.equal(got.length, 1, "it rests");
    isUp = true;
    clock.now = next;
    await deliverer.look();
    assert.deepEqual(
      got.map(({ seq }) => seq),
      [1, 1, 2, 3],
    );
  });

  it("that a receiver refuses do not keep later ones from it", async (t) => {
    const { webhooks, deliverer, record } = await brain(t);
    const { url, seqs } = await receiver(
      t,
      (count, response) => void response.writeHead(count === 1 ? 400 : 200).end(),
    );
    const hook = await webhooks.add({ url, ...EVENTS }, "ada");
    await record("run_1", [entry(1), entry(2)]);
    await deliverer.look();
    assert.deepEqual(seqs(), [1, 2]);
    assert.deepEqual(
      (await webhooks.waiting(hook.id)).map(({ seq }) => seq),
      [1],
    );
  });

  it("beyond the bound are given up, the oldest first", async (t) => {
    const { webhooks, deliverer, gaveUp, record } = await brain(t);
    const hook = await webhooks.add({ url: "http://127.0.0.1:1/", ...EVENTS }, "ada");
    for (let run = 0; run < WEBHOOK_LIMITS.waiting + 3; run += 1) await record(`run_${run}`, [entry(run + 1)]);
    await deliverer.look();
    assert.deepEqual(
      gaveUp,
      [1, 2, 3].map((seq) => `${seq}: too many messages wait`),
    );
    assert.equal((await webhooks.waiting(hook.id)).length, WEBHOOK_LIMITS.waiting);
  });

  it("end with a receiver that is gone for good, and with a webhook that is removed", async (t) => {
    const { webhooks, deliverer, gaveUp, record } = await brain(t);
    const { url } = await receiver(t, (_, response) => void response.writeHead(410).end());
    const gone = await webhooks.add({ url, ...EVENTS }, "ada");
    const removed = await webhooks.add({ url: "http://127.0.0.1:1/", ...EVENTS }, "ada");
    await record("run_1", [entry(1), entry(2)]);
    await webhooks.remove(removed.id);
    assert.deepEqual(await webhooks.waiting(removed.id), []);
    await deliverer.look();
    assert.equal(webhooks.find(gone.id), undefined);
    assert.deepEqual(gaveUp, ["1: status 410"]);
    assert.deepEqual(await webhooks.waiting(gone.id), []);
  });

  it("are claimed before they are sent, so that of two brains one sends each", async (t) => {
    const { webhooks, deliverer, clock, records, record } = await brain(t);
    const { url, seqs } = await receiver(t);
    await webhooks.add({ url, ...EVENTS }, "ada");
    const others = new Webhooks(records, () => clock.now);
    await others.open();
    const other = new Deliverer({ webhooks: others, journal: JOURNAL, now: () => clock.now, gaveUp: () => undefined });
    await record("run_1", [entry(1), entry(2), entry(3), entry(4)]);
    await Promise.all([deliverer.look(), other.look()]);
    await Promise.all([other.close(), deliverer.look()]);
    others.close();
    assert.deepEqual(new Set(seqs()), new Set([1, 2, 3, 4]));
    assert.equal(seqs().length, 4);
  });

  it("about a run that was deleted are dropped", async (t) => {
    const { webhooks, clock, record } = await brain(t);
    const { url, seqs } = await receiver(t);
    const hook = await webhooks.add({ url, ...EVENTS }, "ada");
    const journal = { ...JOURNAL, head: async () => undefined };
    const deliverer = new Deliverer({ webhooks, journal, now: () => clock.now, gaveUp: () => undefined });
    await record("run_1", [entry(1)]);
    await deliverer.look();
    assert.deepEqual([seqs(), await webhooks.waiting(hook.id)], [[], []]);
    await deliverer.close();
  });

  it("are sent as soon as they are recorded, by a deliverer that was started", async (t) => {
    const { webhooks, deliverer, record } = await brain(t);
    const arrived = Promise.withResolvers<void>();
    const { url } = await receiver(t, (_, response) => {
      response.end();
      arrived.resolve();
    });
    deliverer.start();
    await webhooks.add({ url, ...EVENTS }, "ada");
    await record("run_1", [entry(1)]);
    await arrived.promise;
  });
});

describe("the signature of a message", () => {
  it("is what a receiver computes from id, time and body with its secret", () => {
    const secret = `whsec_${Buffer.from("a key of this test").toString("base64")}`;
    const headers = webhookHeaders(secret, { id: "msg_1", at: 1_700_000_000_999, body: '{"a":1}' });
    const expected = createHmac("sha256", "a key of this test").update('msg_1.1700000000.{"a":1}').digest("base64");
    assert.deepEqual(headers, {
      "webhook-id": "msg_1",
      "webhook-timestamp": "1700000000",
      "webhook-signature": `v1,${expected}`,
    });
  });
});
