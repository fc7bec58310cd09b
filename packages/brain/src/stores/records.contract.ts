import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { RECORD_LIMITS } from "@vidro/core";
import type { JsonObject, Records } from "@vidro/core";
import { folder, rejects } from "./journal.fixture.ts";
import type { OpenStore } from "./stores.ts";

type On = (title: string, body: (records: Records, clock: { now: number }) => Promise<void>) => void;

/** What every store keeps of the Records port. */
export function recordsContract(name: string, open: OpenStore): void {
  const on: On = (title, body) =>
    void test(title, async () => {
      using place = folder();
      const clock = { now: 1000 };
      const store = await open(join(place.path, "store"), { now: () => clock.now });
      try {
        await body(store.records, clock);
      } finally {
        await store.close();
      }
    });
  void describe(`${name}: records`, () => {
    keepContract(on);
    versionContract(on);
    listContract(on);
    watchContract(on);
  });
}

/** A record of the kind "thing" that is mine. */
function thing(id: string, body: JsonObject = {}): { kind: string; id: string; owner: string; body: JsonObject } {
  return { kind: "thing", id, owner: "me", body };
}

function keepContract(on: On): void {
  on("what was put is got back, with when it was made and changed", async (records, clock) => {
    const made = await records.put(thing("a", { colour: "red" }));
    assert.deepEqual(made, { ...thing("a", { colour: "red" }), version: 1, createdAt: 1000, updatedAt: 1000 });
    clock.now = 2000;
    const changed = await records.put({ ...thing("a", { colour: "blue" }), owner: "you" });
    const expected = { ...thing("a", { colour: "blue" }), owner: "you", version: 2, createdAt: 1000, updatedAt: 2000 };
    assert.deepEqual(changed, expected);
    assert.deepEqual(await records.get("thing", "a"), expected);
  });

  on("a record is found by its kind and id only", async (records) => {
    await records.put(thing("a"));
    assert.equal(await records.get("thing", "b"), undefined);
    assert.equal(await records.get("other", "a"), undefined);
    await records.put({ ...thing("a"), kind: "other" });
    assert.equal((await records.get("thing", "a"))?.version, 1);
  });

  on("deleting says whether there was one", async (records) => {
    await records.put(thing("a"));
    assert.equal(await records.delete("other", "a"), false);
    assert.equal(await records.delete("thing", "a"), true);
    assert.equal(await records.delete("thing", "a"), false);
    assert.equal(await records.get("thing", "a"), undefined);
  });

  on("what a caller does to a body later does not change the record", async (records) => {
    const body = { list: ["a"] };
    const made = await records.put(thing("a", body));
    body.list.push("b");
    assert.deepEqual(made.body, { list: ["a"] });
    assert.deepEqual((await records.get("thing", "a"))?.body, { list: ["a"] });
  });

  on("any JSON comes back as it was put", async (records) => {
    const value = fc.dictionary(fc.string(), fc.jsonValue());
    const property = fc.asyncProperty(value, async (body) => {
      const plain: JsonObject = JSON.parse(JSON.stringify(body));
      await records.put(thing("a", plain));
      assert.deepEqual((await records.get("thing", "a"))?.body, plain);
    });
    await fc.assert(property, { numRuns: 50 });
  });

  on("a body of RECORD_LIMITS.bodyBytes is kept, a larger one and a longer name are refused", async (records) => {
    const text = "é".repeat((RECORD_LIMITS.bodyBytes - '{"t":""}'.length) / 2);
    await records.put(thing("a", { t: text }));
    await rejects(records.put(thing("a", { t: `${text}x` })), "PAYLOAD_TOO_LARGE");
    assert.equal((await records.get("thing", "a"))?.version, 1);
    await records.put(thing("i".repeat(RECORD_LIMITS.nameChars)));
    await rejects(records.put(thing("i".repeat(RECORD_LIMITS.nameChars + 1))), "PAYLOAD_TOO_LARGE");
    await rejects(records.put({ ...thing("a"), owner: "o".repeat(RECORD_LIMITS.nameChars + 1) }), "PAYLOAD_TOO_LARGE");
  });
}

function versionContract(on: On): void {
  on("a change that is meant for another version is a conflict and changes nothing", async (records) => {
    await rejects(records.put(thing("a"), 1), "CONFLICT");
    assert.equal((await records.put(thing("a", { n: 1 }), 0)).version, 1);
    await rejects(records.put(thing("a", { n: 2 }), 0), "CONFLICT");
    assert.equal((await records.put(thing("a", { n: 2 }), 1)).version, 2);
    const fault = await rejects(records.put(thing("a", { n: 3 }), 1), "CONFLICT");
    assert.deepEqual(fault.detail, { found: 2, expected: 1 });
    assert.deepEqual((await records.get("thing", "a"))?.body, { n: 2 });
  });

  on("of those who change one version at the same time exactly one wins", async (records) => {
    await records.put(thing("a"));
    const tries = Array.from({ length: 20 }, (_, n) => records.put(thing("a", { n }), 1));
    const settled = await Promise.allSettled(tries);
    assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await records.get("thing", "a"))?.version, 2);
  });
}

function listContract(on: On): void {
  on("records are listed oldest first, by owner, after one of them, up to a limit", async (records) => {
    for (const [id, owner] of ["dme", "byou", "ame", "cyou"].map((word) => [word.slice(0, 1), word.slice(1)] as const))
      await records.put({ ...thing(id), owner });
    await records.put({ ...thing("z"), kind: "other" });
    await records.put(thing("d", { changed: true }));
    const ids = async (filter: Parameters<Records["list"]>[1]): Promise<string> =>
      (await records.list("thing", filter)).map(({ id }) => id).join("");
    assert.equal(await ids({ limit: 10 }), "dbac");
    assert.equal(await ids({ limit: 2 }), "db");
    assert.equal(await ids({ limit: 2, after: "b" }), "ac");
    assert.equal(await ids({ limit: 10, after: "c" }), "");
    assert.equal(await ids({ limit: 10, owner: "you" }), "bc");
    assert.equal(await ids({ limit: 10, owner: "me", after: "b" }), "a");
    assert.equal(await ids({ limit: 1, owner: "you", after: "b" }), "c");
    assert.equal(await ids({ limit: 10, order: "newest" }), "cabd");
    assert.equal(await ids({ limit: 2, order: "newest", after: "c" }), "ab");
    assert.equal(await ids({ limit: 10, order: "newest", owner: "you", after: "a" }), "b");
    assert.deepEqual(await records.list("nothing", { limit: 10 }), []);
  });

  on("listing after a record that is not there is refused", async (records) => {
    await records.put(thing("a"));
    await rejects(records.list("thing", { after: "b", limit: 10 }), "NOT_FOUND");
  });
}

function watchContract(on: On): void {
  on("a change wakes the watchers of its kind and no others", async (records) => {
    const woken: string[] = [];
    const stops = [
      records.watch("thing", () => woken.push("thing 1")),
      records.watch("thing", () => woken.push("thing 2")),
      records.watch("other", () => woken.push("other")),
    ];
    await records.put(thing("a"));
    assert.deepEqual(woken.splice(0), ["thing 1", "thing 2"]);
    await records.delete("thing", "a");
    await records.delete("thing", "a");
    assert.deepEqual(woken.splice(0), ["thing 1", "thing 2"]);
    await rejects(records.put(thing("a"), 7), "CONFLICT");
    assert.deepEqual(woken.splice(0), []);
    stops[0]?.();
    await records.put(thing("b"));
    await records.put({ ...thing("b"), kind: "other" });
    assert.deepEqual(woken.splice(0), ["thing 2", "other"]);
    for (const stop of stops) stop();
    await records.put(thing("c"));
    assert.deepEqual(woken, []);
  });
}
