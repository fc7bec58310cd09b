import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import { folder } from "../stores/journal.fixture.ts";
import { APPLICATION_ID } from "../stores/sqlite/schema.ts";
import { copyKnowledge } from "./copy-knowledge.ts";
import { entry } from "./knowledge.contract.ts";
import { LateDatabase } from "./late-database.ts";
import { lateKnowledge } from "./late-knowledge.ts";
import { sqliteKnowledge } from "./sqlite-knowledge.ts";

test("a knowledge base is loaded once, at its first use, however many come at once", async () => {
  let loads = 0;
  const knowledge = lateKnowledge(async () => {
    loads += 1;
    return sqliteKnowledge(":memory:");
  });
  assert.equal(loads, 0);
  await Promise.all([knowledge.add(entry("1", "disk")), knowledge.list({ limit: 1 }), knowledge.find("1")]);
  assert.equal(loads, 1);
  assert.deepEqual(
    (await knowledge.search({ text: "disk", limit: 5 })).map(({ id }) => id),
    ["1"],
  );
  await knowledge.close();
});

test("a load that failed is tried again with the next use", async () => {
  let failures = 1;
  const knowledge = lateKnowledge(async () => {
    if ((failures -= 1) >= 0) throw new Fault("STORE_UNREACHABLE", "away");
    return sqliteKnowledge(":memory:");
  });
  await assert.rejects(knowledge.list({ limit: 1 }), { code: "STORE_UNREACHABLE" });
  await knowledge.add(entry("1", "disk"));
  assert.equal((await knowledge.find("1"))?.title, "disk");
  await knowledge.close();
});

test("closing loads nothing, and is no error after a load that failed", async () => {
  let loads = 0;
  const knowledge = lateKnowledge(() => {
    loads += 1;
    return Promise.reject(new Error("no code"));
  });
  await knowledge.close();
  assert.equal(loads, 0);
  await assert.rejects(knowledge.find("1"), /no code/);
  await knowledge.close();
  const pending = lateKnowledge(() => Promise.reject(new Error("no code")));
  const used = assert.rejects(pending.find("1"), /no code/);
  await pending.close();
  await used;
});

const TABLE = [`PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE thing (name TEXT) STRICT;`];

test("a database is opened at its first use, and again after it was closed, with what it had", async () => {
  using place = folder();
  const path = join(place.path, "late.db");
  const late = new LateDatabase(path, TABLE, { name: "The things" });
  await late.close();
  assert.equal(existsSync(path), false);
  await late.change((database) => database.exec("INSERT INTO thing VALUES ('kept')"));
  await late.close();
  assert.equal(await late.use((database) => database.prepare("SELECT name FROM thing").get()?.["name"]), "kept");
  await late.close();
});

test("a change that throws leaves nothing of itself, and its failure has the name of the database", async () => {
  using place = folder();
  const late = new LateDatabase(join(place.path, "late.db"), TABLE, { name: "The things" });
  const half = late.change((database) => {
    database.exec("INSERT INTO thing VALUES ('half')");
    database.exec("INSERT INTO nowhere VALUES (1)");
  });
  await assert.rejects(half, { code: "STORE_FAILED", message: /^The things: / });
  await assert.rejects(
    late.change(() => {
      throw new Fault("NOT_FOUND", "as it is");
    }),
    { code: "NOT_FOUND" },
  );
  assert.equal(await late.use((database) => database.prepare("SELECT count(*) AS n FROM thing").get()?.["n"]), 0);
  await late.close();
});

test("a database that cannot be opened fails each use until it can", async () => {
  using place = folder();
  let isReady = false;
  const late = new LateDatabase(join(place.path, "late.db"), TABLE, {
    name: "The things",
    prepare: () => {
      if (!isReady) throw new Error("not yet");
    },
  });
  for (const _ of ["once", "twice"])
    await assert.rejects(
      late.use(() => undefined),
      { code: "STORE_FAILED", message: /not yet/ },
    );
  isReady = true;
  await late.change((database) => database.exec("INSERT INTO thing VALUES ('now')"));
  await late.close();
});

test("all entries are copied in their order, those that are there stay, and both sides are closed", async () => {
  const closed: string[] = [];
  const side = (name: string) => ({ ...sqliteKnowledge(":memory:"), close: async () => void closed.push(name) });
  const [source, copied] = [side("from"), side("to")];
  const ids = Array.from({ length: 1100 }, (_, at) => `e${at}`);
  for (const id of ids) await source.add(entry(id, `finding ${id}`, { owner: `o${Number(id.slice(1)) % 3}` }));
  await source.verify("e7");
  await copied.add(entry("e5", "mine"));
  await copyKnowledge(source, copied);
  assert.deepEqual(closed.toSorted(), ["from", "to"]);
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await copied.list({ limit: 500, ...(after === undefined ? {} : { after }) });
    found.push(...page.map(({ id }) => id));
    after = page.at(-1)?.id;
    if (after === undefined) break;
  }
  assert.deepEqual(found.toReversed(), ["e5", ...ids.filter((id) => id !== "e5")]);
  assert.deepEqual([(await copied.find("e5"))?.title, (await copied.find("e7"))?.status], ["mine", "verified"]);
});

test("a copy that fails closes both sides, too", async () => {
  const closed: string[] = [];
  const from = { ...sqliteKnowledge(":memory:"), list: () => Promise.reject(new Fault("STORE_FAILED")) };
  const side = (name: string) => ({ ...from, close: async () => void closed.push(name) });
  await assert.rejects(copyKnowledge(side("from"), side("to")), { code: "STORE_FAILED" });
  assert.deepEqual(closed.toSorted(), ["from", "to"]);
});
