import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FIRST_GENERATION } from "@vidro/core/run";
import type { JsonObject } from "@vidro/core";
import { openStore } from "../stores/stores.ts";
import { findUnreviewed, markReviewed } from "./revocation-review.ts";

type Rows = { readonly [kind: string]: readonly { readonly id: string; readonly body: JsonObject }[] };

/** What is to be reviewed in a store with these records. */
const review = (generation: number, rows: Rows) => findUnreviewed(generation, async (kind) => rows[kind] ?? []);

const ROWS: Rows = {
  hand: [
    { id: "h2", body: { name: "web-2", gateway: "agent-ws" } },
    { id: "h1", body: { name: "web-1", gateway: "agent-http" } },
    { id: "h3", body: { name: "laptop", gateway: "executor-ws" } },
    { id: "h4", body: { name: "gone", gateway: "agent-ws" } },
    { id: "h5", body: { gateway: "agent-tcp" } },
  ],
  "hand-bar": [
    { id: "h4", body: { barred: "revoked" } },
    { id: "h1", body: { barred: "quarantined" } },
  ],
  token: [
    { id: "t1", body: {} },
    { id: "t2", body: { revoked: true } },
    { id: "t3", body: { revoked: false } },
  ],
};

describe("the review after a restore", () => {
  it("is not needed for a store that was never restored", async () => {
    assert.equal(await review(FIRST_GENERATION, ROWS), undefined);
  });

  it("lists hands of other machines that are not revoked, and counts tokens that are not", async () => {
    assert.deepEqual(await review(FIRST_GENERATION + 1, ROWS), { hands: ["h5", "web-1", "web-2"], tokens: 2 });
  });

  it("is done for the generation that a person reviewed, and due again for the next", async () => {
    const reviewed = { ...ROWS, "restore-review": [{ id: "generation", body: { generation: FIRST_GENERATION + 1 } }] };
    assert.equal(await review(FIRST_GENERATION + 1, reviewed), undefined);
    assert.notEqual(await review(FIRST_GENERATION + 2, reviewed), undefined);
  });

  it("is not taken for done because of a record that says nothing", async () => {
    const odd = { ...ROWS, "restore-review": [{ id: "generation", body: { generation: "all" } }] };
    assert.notEqual(await review(FIRST_GENERATION + 1, odd), undefined);
  });

  it("is durable in the records of the store", async (t) => {
    const store = await openStore("memory", "");
    t.after(() => store.close());
    await markReviewed(store.records, FIRST_GENERATION + 3);
    const read = async (kind: string) => store.records.list(kind, { limit: 100 });
    assert.equal(await findUnreviewed(FIRST_GENERATION + 3, read), undefined);
    assert.deepEqual(await findUnreviewed(FIRST_GENERATION + 4, read), { hands: [], tokens: 0 });
  });
});
