import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Event, Journal } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { entry, folder, rejects, sqliteJournalAt, startedEvent } from "./journal.fixture.ts";
import { packEvent, partsIn, unpackBody } from "./parts.ts";

const WORDS = "text of a tool ".repeat(20);

/** A start with a toolbelt of about 8 KB. */
function bigStart(task: string): Event {
  const started = startedEvent(task);
  assert.ok(started.type === "run.started");
  const tools = Array.from({ length: 20 }, (_, index) => ({
    name: `tool${index}`,
    description: WORDS,
    parameters: { type: "object" },
    idempotent: true,
  }));
  return { ...started, tools };
}

async function runOf(journal: Journal, id: string, answer: string): Promise<void> {
  const { lease } = await journal.create({ id, owner: "me", thread: "t" }, [entry(1, bigStart(id))], thisHolder());
  assert.ok(lease);
  const usage = { inputTokens: 1, outputTokens: 1 };
  await journal.append(lease, [
    entry(2, { type: "model.called", step: 1, attempt: 1 }),
    entry(3, { type: "model.replied", model: "none", text: answer, usage, answer }),
    entry(4, { type: "run.finished", result: answer }),
  ]);
}

test("any event is packed and unpacked to the letter", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 50 }),
    fc.string({ unit: fc.constantFrom('"', "\\", "\u0001", "a", "é", "\n"), minLength: 900, maxLength: 1500 }),
  );
  const property = fc.property(fc.array(text, { maxLength: 4 }), fc.jsonValue(), (steps, result) => {
    for (const event of [
      { type: "plan.made", steps },
      { type: "run.finished", result },
    ] as Event[]) {
      const { body, stored, parts } = packEvent(event);
      assert.equal(body, JSON.stringify(event));
      assert.equal(
        unpackBody(stored, (key) => parts.get(key)),
        body,
      );
      assert.deepEqual(new Set(partsIn(stored)), new Set(parts.keys()));
    }
  });
  fc.assert(property, { numRuns: 200 });
});

test("a toolbelt of many runs and an answer of one are on the disk once", async () => {
  using place = folder();
  const path = join(place.path, "store");
  const journal = await sqliteJournalAt(path);
  const answer = "a long answer ".repeat(10_000);
  for (let run = 0; run < 200; run += 1) await runOf(journal, `run ${run}`, "short");
  await runOf(journal, "large", answer);
  assert.deepEqual(await journal.verify("large"), { entries: 4 });
  await journal.close();
  const database = new DatabaseSync(path, { readOnly: true });
  const [{ texts } = { texts: 0 }] = database
    .prepare("SELECT sum(text LIKE '%a long answer%') AS texts FROM part")
    .all();
  assert.equal(texts, 1);
  assert.deepEqual({ ...database.prepare("SELECT count(*) AS count FROM part").get() }, { count: 2 });
  database.close();
  // Toolbelts alone would take 1.3 MB, and the answer three times 420 KB.
  const bytes = statSync(path).size;
  assert.ok(bytes < 600_000, `${bytes} bytes`);
});

test("a part that was changed or is gone breaks the chain of the runs that have it", async () => {
  for (const change of ["UPDATE part SET text = replace(text, 'tool', 'fool')", "DELETE FROM part"]) {
    using place = folder();
    const path = join(place.path, "store");
    const journal = await sqliteJournalAt(path);
    await runOf(journal, "a", "yes");
    await runOf(journal, "b", "yes");
    const database = new DatabaseSync(path);
    database.exec(change);
    database.close();
    for (const run of ["a", "b"]) assert.equal((await journal.verify(run)).brokenAt, 1);
    await rejects(journal.read("a", 0, 10), "JOURNAL_CORRUPT");
    await journal.close();
  }
});
