import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { WATCH_LIMITS } from "@vidro/core";
import { scratch } from "../../scratch.fixture.ts";
import { WatchLog } from "./watch-log.ts";
import type { EventQuery, WatchEvent } from "./watch-log.ts";

const event = (at: number, file = "/w/a"): Omit<WatchEvent, "seq"> => ({ type: "modify", file, at });
const query = (more: Partial<EventQuery> = {}): EventQuery => ({ order: "asc", limit: 100, ...more });

function openLog(t: TestContext): { readonly log: WatchLog; readonly path: string } {
  const path = join(scratch(t), "watches.db");
  const log = new WatchLog(path);
  t.after(() => log.close());
  return { log, path };
}

test("watches and their events are there after a restart, and no other user can read them", (t) => {
  const path = join(scratch(t), "watches.db");
  const first = new WatchLog(path);
  const watch = first.create("/w", 1, 1000);
  first.keep(watch.token, [event(5), { ...event(6), why: "because" }]);
  first.close();
  const again = new WatchLog(path);
  t.after(() => again.close());
  assert.deepEqual(again.find(watch.token), watch);
  assert.deepEqual(again.events(watch.token, query()), [
    { seq: 1, ...event(5) },
    { seq: 2, ...event(6), why: "because" },
  ]);
  assert.equal(statSync(path).mode & 0o077, 0);
});

test("events are chosen by time, order and place", (t) => {
  const { log } = openLog(t);
  const { token } = log.create("/w", 1, 1000);
  log.keep(
    token,
    [10, 20, 30, 40].map((at) => event(at)),
  );
  const times = (more: Partial<EventQuery>) => log.events(token, query(more)).map(({ at }) => at);
  assert.deepEqual(times({}), [10, 20, 30, 40]);
  assert.deepEqual(times({ since: 20, until: 30 }), [20, 30]);
  assert.deepEqual(times({ order: "desc", limit: 2 }), [40, 30]);
  assert.deepEqual(times({ after: 2 }), [30, 40]);
  assert.deepEqual(times({ order: "desc", after: 3 }), [20, 10]);
  assert.deepEqual(times({ limit: 0 }), []);
});

test("a token gives its own events alone, and an unknown one nothing", (t) => {
  const { log } = openLog(t);
  const [one, other] = [log.create("/w", 1, 1000), log.create("/w", 1, 1000)];
  log.keep(one.token, [event(1)]);
  log.keep("W-unknown", [event(2)]);
  assert.notEqual(one.token, other.token);
  assert.deepEqual(log.events(other.token, query()), []);
  assert.deepEqual(log.events("W-unknown", query()), []);
  assert.equal(log.find("' OR 1=1 --"), undefined);
});

test("beyond the bound one event says that there were more", (t) => {
  const { log } = openLog(t);
  const { token } = log.create("/w", 1, 1000);
  const many = Array.from({ length: WATCH_LIMITS.events - 1 }, (_, at) => event(at));
  log.keep(token, many);
  log.keep(token, [event(1), event(2), event(3)]);
  log.keep(token, [event(4)]);
  const [last, before] = log.events(token, query({ order: "desc", limit: 2 }));
  assert.deepEqual([last?.seq, last?.type], [WATCH_LIMITS.events + 1, "error"]);
  assert.match(last?.why ?? "", /not kept/);
  assert.equal(before?.type, "modify");
});

test("a watch that is dropped takes its events with it; expired ones go after a while, the oldest beyond the bound", (t) => {
  const { log } = openLog(t);
  const dropped = log.create("/w", 1, 1e12);
  log.keep(dropped.token, [event(1)]);
  log.drop(dropped.token);
  assert.deepEqual([log.find(dropped.token), log.events(dropped.token, query())], [undefined, []]);
  const old = log.create("/w", 1, 10);
  const fresh = log.create("/w", 1, 10 + WATCH_LIMITS.keptMs);
  log.prune(11 + WATCH_LIMITS.keptMs);
  assert.deepEqual([log.find(old.token), log.find(fresh.token)?.token], [undefined, fresh.token]);
  for (let at = 0; at < WATCH_LIMITS.kept + 2; at += 1) log.create("/w", 1, 1e13 + at);
  log.prune(0);
  assert.equal(log.open(0).length, WATCH_LIMITS.kept);
  assert.equal(log.find(fresh.token), undefined);
});

test("a database of a newer Vidro is left alone, and a file that is none is named", (t) => {
  const folder = scratch(t);
  const newer = new DatabaseSync(join(folder, "newer.db"));
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  assert.throws(() => new WatchLog(join(folder, "newer.db")), { code: "STORE_NEWER" });
  writeFileSync(
    join(folder, "text.db"),
    "this is no database, and long enough to be read as a header of one\n".repeat(20),
  );
  assert.throws(() => new WatchLog(join(folder, "text.db")), { code: "LEDGER_UNWRITABLE", message: /text\.db/ });
});
