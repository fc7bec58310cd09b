import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, FOLLOW_LIMITS } from "@vidro/core";
import type { Entry, Journal, RunHead } from "@vidro/core";
import { redactor } from "@vidro/core/redact";
import { begin, entries } from "../stores/journal.fixture.ts";
import { memoryStore } from "../stores/memory.ts";
import { JournalSurvey } from "./journal-survey.ts";
import { jsonLog, lineHead } from "./log.ts";
import type { LogFields } from "./log.ts";
import { LOG_EVENTS } from "./log-events.ts";
import type { LogEventName } from "./log-events.ts";
import { diskRoom, openDescriptors } from "./vitals.ts";

/** Surveys a journal to the end; gives the reads that it made and the lines of its log. */
async function survey(journal: Journal, change: Partial<Pick<Journal, "list" | "read">> = {}) {
  const reads: [run: string, after: number][] = [];
  const lines: LogFields[] = [];
  const surveyed = Promise.withResolvers<void>();
  const heads = await journal.list({ limit: 100 });
  let left = heads.length;
  const watched: Pick<Journal, "list" | "read"> = {
    list: change.list ?? ((filter) => journal.list(filter)),
    read: async (run, after, limit) => {
      reads.push([run, after]);
      try {
        const read = await (change.read ?? journal.read.bind(journal))(run, after, limit);
        if (read.length < FOLLOW_LIMITS.batch && (left -= 1) === 0) setImmediate(surveyed.resolve);
        return read;
      } catch (thrown) {
        if ((left -= 1) === 0) setImmediate(surveyed.resolve);
        throw thrown;
      }
    },
  };
  const one = new JournalSurvey(watched, (event, fields) => void lines.push({ ...lineHead(event), ...fields }));
  one.start();
  await surveyed.promise;
  await one.close();
  return { reads, lines };
}

test("each journal is read to its end, the longer ones in batches, and whole ones are not told of", async () => {
  const { journal } = memoryStore();
  const lease = await begin(journal, "run_long");
  await journal.append(lease, entries(2, FOLLOW_LIMITS.batch + 1));
  await begin(journal, "run_short");
  const { reads, lines } = await survey(journal);
  assert.deepEqual(reads, [
    ["run_short", 0],
    ["run_long", 0],
    ["run_long", FOLLOW_LIMITS.batch],
  ]);
  assert.deepEqual(lines, []);
});

test("a run that cannot be read is told of once, and those behind it are read", async () => {
  const { journal } = memoryStore();
  for (const id of ["run_1", "run_2", "run_3"]) await begin(journal, id);
  const read: Journal["read"] = async (run, after, limit): Promise<readonly Entry[]> => {
    if (run === "run_2") throw new Fault("JOURNAL_CORRUPT", "A page is gone.");
    return journal.read(run, after, limit);
  };
  const { reads, lines } = await survey(journal, { read });
  assert.equal(reads.length, 3);
  assert.deepEqual(
    lines.map((line) => [line["event"], line.run_id, line["code"], line["reason"]]),
    [["run.unreadable", "run_2", "JOURNAL_CORRUPT", "A page is gone."]],
  );
});

test("damage that the list knows of is told without a read", async () => {
  const { journal } = memoryStore();
  for (const id of ["run_1", "run_2"]) await begin(journal, id);
  const list: Journal["list"] = async (filter) =>
    (await journal.list(filter)).map((head): RunHead => (head.id === "run_2" ? { ...head, damaged: "torn" } : head));
  const lines: LogFields[] = [];
  const read = Promise.withResolvers<string>();
  const one = new JournalSurvey(
    {
      list,
      read: async (run) => {
        read.resolve(run);
        return [];
      },
    },
    (event, fields) => void lines.push({ ...lineHead(event), ...fields }),
  );
  one.start();
  assert.equal(await read.promise, "run_1");
  await one.close();
  assert.deepEqual([lines.length, lines[0]?.run_id, lines[0]?.["reason"]], [1, "run_2", "torn"]);
});

test("a survey that is closed reads no more and tells of nothing, also when its read fails by that", async () => {
  const lines: LogFields[] = [];
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let reads = 0;
  const { journal } = memoryStore();
  for (const id of ["run_1", "run_2"]) await begin(journal, id);
  const one = new JournalSurvey(
    {
      list: (filter) => journal.list(filter),
      read: async () => {
        reads += 1;
        asked.resolve();
        await go.promise;
        throw new Fault("STORE_FAILED", "The store is closed.");
      },
    },
    (event) => void lines.push({ ...lineHead(event) }),
  );
  one.start();
  await asked.promise;
  const closed = one.close();
  go.resolve();
  await closed;
  assert.deepEqual([reads, lines], [1, []]);
  await one.close();
});

test("a line of the log is one JSON object with the time, the name, its level and sentence, and no secret", () => {
  const lines: string[] = [];
  const log = jsonLog(
    (line) => lines.push(line),
    redactor(["hunter2-hunter2"]),
    () => 0,
  );
  log("run.unreadable", { run_id: "run_1", reason: "say hunter2-hunter2\nline two \u2028 é" });
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.trimEnd().includes("\n"), false);
  const said = JSON.parse(lines[0] ?? "") as LogFields;
  assert.deepEqual(
    [said["timestamp"], said["event"], said.run_id],
    ["1970-01-01T00:00:00.000Z", "run.unreadable", "run_1"],
  );
  assert.equal(String(said["reason"]).includes("hunter2"), false);
});

test("every name of the log has a level and a sentence that ends", () => {
  for (const name of Object.keys(LOG_EVENTS) as LogEventName[]) {
    const { level, message } = lineHead(name);
    assert.match(name, /^[a-z]+(?:\.[a-z_]+)+$/);
    assert.ok(["debug", "info", "warn", "error"].includes(level), name);
    assert.match(message, /^[A-Z].*\.$/, name);
  }
});

test("the disk of a folder has room that adds up, and one that is not there has none to tell", async () => {
  const room = (await diskRoom("/tmp")) ?? assert.fail();
  assert.ok(room.totalBytes > 0 && room.usedBytes >= 0 && room.usedBytes <= room.totalBytes);
  assert.ok(room.freeBytes >= 0 && room.freeBytes <= room.totalBytes);
  assert.equal(await diskRoom("/nowhere/at/all"), undefined);
});

test("descriptors are counted as they are opened and closed", async () => {
  const before = openDescriptors();
  assert.ok(before !== undefined && before !== "exhausted");
  const { openSync, closeSync } = await import("node:fs");
  const held = Array.from({ length: 20 }, () => openSync("/dev/null", "r"));
  const during = openDescriptors();
  for (const descriptor of held) closeSync(descriptor);
  assert.ok(during !== undefined && during !== "exhausted" && during.open >= before.open + 20);
  assert.ok(during.limit > 0);
});
