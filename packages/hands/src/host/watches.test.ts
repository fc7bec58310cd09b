import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { WATCH_LIMITS } from "@vidro/core";
import { scratch } from "../scratch.fixture.ts";
import { Watches } from "./watches.ts";
import { WatchLog } from "./watches/watch-log.ts";

interface Scene {
  readonly folder: string;
  readonly state: string;
  readonly at: (name: string) => string;
  readonly open: () => Promise<Watches>;
}

function scene(t: TestContext): Scene {
  const root = scratch(t);
  const [folder, state] = [join(root, "watched"), join(root, "watched", "state")];
  mkdirSync(state, { recursive: true });
  const open = async (): Promise<Watches> => {
    const watches = await Watches.open({ file: join(state, "watches.db"), reserved: state });
    t.after(() => watches.close().catch(() => undefined));
    return watches;
  };
  return { folder, state, at: (name) => join(folder, name), open };
}

const all = { order: "asc", limit: 100_000 } as const;

/** What was seen, once the last of the words was. */
async function seen(watches: Watches, token: string, root: string, last: string): Promise<readonly string[]> {
  for (;;) {
    const events = watches.events(token, all).map(({ type, file }) => `${type} ${file.slice(root.length + 1)}`);
    if (events.includes(last)) return events;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("files and folders are seen to come, change and go, at any depth", async (t) => {
  const { folder, at, open } = scene(t);
  mkdirSync(at("old"));
  writeFileSync(at("old/file"), "1");
  const watches = await open();
  const { token } = await watches.begin(folder, 60);
  mkdirSync(at("a/b/c"), { recursive: true });
  writeFileSync(at("a/b/c/deep"), "x");
  await seen(watches, token, folder, "add a/b/c/deep");
  writeFileSync(at("old/file"), "22");
  await seen(watches, token, folder, "modify old/file");
  renameSync(at("a/b/c/deep"), at("top"));
  await seen(watches, token, folder, "unlink a/b/c/deep");
  rmSync(at("a"), { recursive: true });
  const events = await seen(watches, token, folder, "unlinkDir a");
  assert.deepEqual(
    events.filter((event) => !event.includes("top")),
    [
      "addDir a",
      "addDir a/b",
      "addDir a/b/c",
      "add a/b/c/deep",
      "modify old/file",
      "unlink a/b/c/deep",
      "unlinkDir a/b/c",
      "unlinkDir a/b",
      "unlinkDir a",
    ],
  );
  assert.ok(events.includes("add top"));
});

test("many files that come at once are all seen, each once", async (t) => {
  const { folder, at, open } = scene(t);
  const watches = await open();
  const { token } = await watches.begin(folder, 60);
  for (let made = 0; made < 50; made += 1) {
    mkdirSync(at(`f${made}`));
    for (let inside = 0; inside < 10; inside += 1) writeFileSync(at(`f${made}/${inside}`), "");
  }
  writeFileSync(at("last"), "");
  await seen(watches, token, folder, "add last");
  await seen(watches, token, folder, "add f49/9");
  const adds = watches.events(token, all).filter(({ type }) => type === "add" || type === "addDir");
  assert.equal(adds.length, 50 * 11 + 1);
});

test("one file can be watched, through its end and its return", async (t) => {
  const { folder, at, open } = scene(t);
  writeFileSync(at("one"), "1");
  const watches = await open();
  const { token } = await watches.begin(at("one"), 60);
  writeFileSync(at("other"), "");
  rmSync(at("one"));
  await seen(watches, token, folder, "unlink one");
  writeFileSync(at("one"), "2");
  assert.deepEqual(await seen(watches, token, folder, "add one"), ["unlink one", "add one"]);
});

test("symlinks are seen as files and never followed", async (t) => {
  const { folder, at, open } = scene(t);
  const outside = scratch(t);
  symlinkSync(outside, at("way-out"));
  const watches = await open();
  const { token } = await watches.begin(folder, 60);
  writeFileSync(join(outside, "secret"), "");
  symlinkSync(outside, at("another"));
  writeFileSync(join(outside, "secret2"), "");
  writeFileSync(at("last"), "");
  const events = await seen(watches, token, folder, "add last");
  assert.deepEqual([...events].sort(), ["add another", "add last"]);
});

test("the hand's own state is not seen, though it changes with everything that is", async (t) => {
  const { folder, state, at, open } = scene(t);
  const watches = await open();
  const { token } = await watches.begin(folder, 60);
  writeFileSync(join(state, "secret"), "");
  writeFileSync(at("last"), "");
  assert.deepEqual(await seen(watches, token, folder, "add last"), ["add last"]);
});

test("a watch goes on after a restart, and says that there is a gap", async (t) => {
  const { folder, at, open } = scene(t);
  const first = await open();
  const { token } = await first.begin(folder, 60);
  writeFileSync(at("before"), "");
  await seen(first, token, folder, "add before");
  await first.close();
  writeFileSync(at("between"), "");
  const second = await open();
  writeFileSync(at("after"), "");
  const events = await seen(second, token, folder, "add after");
  assert.deepEqual(events, ["add before", "error ", "add after"]);
  const [gap] = second.events(token, all).filter(({ type }) => type === "error");
  assert.match(gap?.why ?? "", /restarted/);
});

test("a watch ends when its time is up, and what it saw stays", async (t) => {
  const { folder, at, open } = scene(t);
  const watches = await open();
  const { token, expiresAt } = await watches.begin(folder, 1);
  writeFileSync(at("early"), "");
  await seen(watches, token, folder, "add early");
  while (Date.now() < expiresAt + 100) await new Promise((resolve) => setTimeout(resolve, 50));
  writeFileSync(at("late"), "");
  const other = await watches.begin(folder, 60);
  writeFileSync(at("last"), "");
  await seen(watches, other.token, folder, "add last");
  assert.deepEqual(await seen(watches, token, folder, "add early"), ["add early"]);
});

test("so many paths are watched at a time and no more; what is not there is no watch", async (t) => {
  const { folder, open } = scene(t);
  const watches = await open();
  await assert.rejects(watches.begin(join(folder, "none"), 60), { code: "TOOL_FAILED" });
  assert.throws(() => watches.events("W-none", all), { code: "NOT_FOUND" });
  for (let begun = 0; begun < WATCH_LIMITS.active; begun += 1) await watches.begin(folder, 60);
  await assert.rejects(watches.begin(folder, 60), { code: "RATE_LIMITED" });
});

test("events of a watch are bounded, and the last one says so", (t) => {
  const log = new WatchLog(join(scratch(t), "watches.db"));
  t.after(() => log.close());
  const { token } = log.create("/somewhere", 1, 2);
  const event = { type: "add", file: "/somewhere/x", at: 1 } as const;
  for (let kept = 0; kept < 3; kept += 1)
    log.keep(
      token,
      Array.from({ length: WATCH_LIMITS.events / 2 }, () => event),
    );
  log.keep(token, [event]);
  const events = log.events(token, all);
  assert.equal(events.length, WATCH_LIMITS.events + 1);
  assert.deepEqual([events.at(-1)?.type, events.at(-2)?.type], ["error", "add"]);
});

test("watches that are long over are forgotten, and the oldest when there are too many", (t) => {
  const log = new WatchLog(join(scratch(t), "watches.db"));
  t.after(() => log.close());
  const old = log.create("/old", 1, 2);
  const tokens = Array.from(
    { length: WATCH_LIMITS.kept + 5 },
    (_, index) => log.create("/new", 1, WATCH_LIMITS.keptMs + index).token,
  );
  log.prune(WATCH_LIMITS.keptMs + 3);
  assert.equal(log.find(old.token), undefined);
  assert.equal(tokens.filter((token) => log.find(token) !== undefined).length, WATCH_LIMITS.kept);
  assert.equal(log.find(tokens[0] ?? ""), undefined);
});

/** Makes every write of an event fail, as a full disk does, until the returned function is called. */
function fillDisk(state: string): () => void {
  const database = new DatabaseSync(join(state, "watches.db"), { timeout: 5000 });
  database.exec("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END");
  return () => {
    database.exec("DROP TRIGGER full");
    database.close();
  };
}

test("what is seen while the disk is full is kept when there is room again, in its order", async (t) => {
  const { folder, state, at, open } = scene(t);
  const watches = await open();
  const { token } = await watches.begin(folder, 60);
  const makeRoom = fillDisk(state);
  // Another watch, whose events go elsewhere, tells when the change was noticed.
  const other = await Watches.open({ file: join(scratch(t), "watches.db"), reserved: state });
  t.after(() => other.close());
  const witness = await other.begin(folder, 60);
  for (const name of ["one", "two"]) {
    writeFileSync(at(name), name);
    await seen(other, witness.token, folder, `add ${name}`);
    assert.deepEqual(watches.events(token, all), []);
  }
  makeRoom();
  assert.deepEqual(await seen(watches, token, folder, "add two"), ["add one", "add two"]);
});

test("watches that end while the disk is full make room for others", async (t) => {
  const { folder, state, at, open } = scene(t);
  const watches = await open();
  const begun = await Promise.all(Array.from({ length: WATCH_LIMITS.active }, () => watches.begin(folder, 1)));
  assert.equal(begun.length, WATCH_LIMITS.active);
  await assert.rejects(watches.begin(folder, 1), { code: "RATE_LIMITED" });
  const makeRoom = fillDisk(state);
  writeFileSync(at("change"), "x");
  for (;;) {
    const next = await watches.begin(folder, 1).catch((fault: { code: string }) => fault);
    if (!("code" in next)) break;
    assert.equal(next.code, "RATE_LIMITED");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  makeRoom();
});
