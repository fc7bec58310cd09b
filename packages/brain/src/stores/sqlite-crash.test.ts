import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Journal } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { fill } from "./full-disk.fixture.ts";
import { begin, entry, folder, neighbour, scriptArgs, sqliteJournalAt } from "./journal.fixture.ts";

const KILLS = 20;

/** Lets another process append until it has told of `count` acknowledged entries, kills it, and gives the last one. */
async function killAfter(path: string, count: number): Promise<number> {
  const other = await neighbour("appender.fixture.ts", path, "a");
  let last = 0;
  for (let told = 0; told < count; told += 1) last = Number((await other.lines.next()).value);
  await other.end();
  // What it said just before it died was acknowledged too.
  for (let line = await other.lines.next(); line.done !== true; line = await other.lines.next())
    last = Number(line.value);
  return last;
}

/** The run is gapless and sound; gives its length. */
async function soundLength(journal: Journal): Promise<number> {
  const read = await journal.read("a", 0, 1_000_000);
  assert.deepEqual(
    read.map(({ seq }) => seq),
    read.map((_, index) => index + 1),
  );
  assert.deepEqual(await journal.verify("a"), { entries: read.length });
  return read.length;
}

void test("F1: what was acknowledged is there after kill -9 at any time, and the next process goes on", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  for (let kill = 0; kill < KILLS; kill += 1) {
    const acknowledged = await killAfter(path, 1 + ((kill * 7) % 23));
    const journal = await sqliteJournalAt(path);
    const length = await soundLength(journal);
    assert.ok(length >= acknowledged, `${acknowledged} were acknowledged, ${length} are there`);
    await journal.close();
  }
});

void test("F2: a torn end of the write-ahead log is dropped, and what is before it is sound", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  // A reader that stays keeps the log from being written back when the other one is gone.
  const reader = await sqliteJournalAt(path);
  const acknowledged = await killAfter(path, 20);
  const log = readFileSync(`${path}-wal`);
  const torn = [1, 100, 4096, 9000].flatMap((bytes) => [
    log.subarray(0, log.length - bytes),
    Buffer.concat([log.subarray(0, log.length - bytes), Buffer.alloc(bytes, 0x5a)]),
  ]);
  for (const [index, bytes] of torn.entries()) {
    const copy = join(place.path, `copy-${index}`);
    copyFileSync(path, copy);
    writeFileSync(`${copy}-wal`, bytes);
    const journal = await sqliteJournalAt(copy);
    const length = await soundLength(journal);
    assert.ok(length > 1 && length <= acknowledged + 2);
    await journal.append(await journal.lease("a", thisHolder()), [entry(length + 1)]);
    assert.equal(await soundLength(journal), length + 1);
    await journal.close();
  }
  await reader.close();
});

void test("F3: a store that is full refuses new entries, serves reads, and goes on when there is room", async () => {
  using place = folder();
  const path = join(place.path, "journal");
  const bounded = await sqliteJournalAt(path, { maxPages: 100 });
  const lease = await begin(bounded, "a");
  const last = await fill(bounded, lease, 2);
  assert.equal(await soundLength(bounded), last);
  await bounded.close();
  const journal = await sqliteJournalAt(path);
  await journal.append(await journal.lease("a", thisHolder()), [entry(last + 1)]);
  assert.equal(await soundLength(journal), last + 1);
  await journal.close();
});

const MOUNT = 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"';

/** Runs a program that sees a disk of 2 MiB at `disk`; the mount is its own and ends with it. */
function onSmallDisk(
  disk: string,
  command: readonly string[],
): { readonly status: number | null; readonly said: string } {
  const flags = process.getuid?.() === 0 ? ["--mount"] : ["--mount", "--map-root-user"];
  const args = [...flags, "sh", "-c", MOUNT, disk, ...command];
  const { status, stderr } = spawnSync("unshare", args, { encoding: "utf8", timeout: 30_000 });
  return { status, said: stderr };
}

/** Where no disk can be mounted, the bound on pages above is the proof that is left. */
function canMount(): boolean {
  using place = folder();
  return onSmallDisk(place.path, ["true"]).status === 0;
}

if (canMount()) {
  void test("F3: a disk that is full refuses new entries, serves reads, and goes on when some of it is freed", () => {
    using place = folder();
    const command = [process.execPath, ...scriptArgs("full-disk.fixture.ts", [place.path])];
    const { status, said } = onSmallDisk(place.path, command);
    assert.equal(status, 0, said);
  });
}
