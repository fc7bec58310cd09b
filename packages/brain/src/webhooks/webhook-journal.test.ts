import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { EventType } from "@vidro/core";
import { begin, entry, rejects, startedEvent } from "../stores/journal.fixture.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import { openStore } from "../stores/stores.ts";
import { webhookJournal } from "./webhook-journal.ts";
import { Webhooks } from "./webhooks.ts";
import type { Webhook } from "./webhooks.ts";

const FINISHED = { type: "run.finished", result: "ok" } as const;

/** A journal that tells webhooks, and one webhook for each list of events. */
async function told(t: TestContext, ...events: EventType[][]) {
  const store = await openStore("memory", "");
  const webhooks = new Webhooks(store.records, () => 7_000);
  await webhooks.open();
  t.after(async () => {
    webhooks.close();
    await store.close();
  });
  const hooks: Webhook[] = [];
  for (const types of events) hooks.push(await webhooks.add({ url: "http://127.0.0.1:1/", events: types }, "ada"));
  /** The messages that wait for each webhook, as run and seq. */
  const waiting = (): Promise<string[][]> =>
    Promise.all(
      hooks.map(async ({ id }) =>
        (await webhooks.waiting(id)).map(({ run, seq, nextAt }) => `${run} ${seq} ${nextAt}`),
      ),
    );
  return { journal: webhookJournal(store.journal, webhooks), waiting, webhooks, hooks };
}

test("each webhook has a message about each event that it is told of, to be sent at once", async (t) => {
  const { journal, waiting } = await told(t, ["run.started", "run.finished"], ["run.finished"], ["run.failed"]);
  await journal.append(await begin(journal, "a"), [entry(2), entry(3, FINISHED)]);
  assert.deepEqual(await waiting(), [["a 1 7000", "a 3 7000"], ["a 3 7000"], []]);
});

test("a run that was made before under its key, and entries that are refused, have no message", async (t) => {
  const { journal, waiting } = await told(t, ["run.started", "run.finished"]);
  const make = (id: string): ReturnType<typeof journal.create> =>
    journal.create({ id, owner: "ada", thread: "t", key: "k" }, [entry(1, startedEvent("do it"))], thisHolder());
  const { lease } = await make("a");
  assert.ok(lease);
  await make("b");
  await rejects(journal.append({ ...lease, epoch: 2 }, [entry(2, FINISHED)]), "LEASE_LOST");
  assert.deepEqual(await waiting(), [["a 1 7000"]]);
});

test("a message that was delivered does not wait again when its entry is appended once more", async (t) => {
  const { journal, waiting, webhooks, hooks } = await told(t, ["run.finished"]);
  const lease = await begin(journal, "a");
  await journal.append(lease, [entry(2, FINISHED)]);
  for (const { id } of hooks) for (const delivery of await webhooks.waiting(id)) await webhooks.drop(delivery);
  await journal.append(lease, [entry(2, FINISHED)]);
  assert.deepEqual(await waiting(), [[]]);
});
