import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { Fault, HAND_LIMITS, type ActionEnd } from "@vidro/core";
import { thisProcess } from "./host/process-identity.ts";
import { openLedger, type Ledger, type ActionStart } from "./ledger.ts";
import { scratch } from "./scratch.fixture.ts";

const ENDED: ActionEnd = { type: "finished", outcome: { kind: "value", text: "done" } };

function start(id: string, more: Partial<ActionStart> = {}): ActionStart {
  return { id, payload: "p", tool: "shell", run: "run_1", epoch: 1, holder: thisProcess(), ...more };
}

function ledgerIn(t: TestContext, now?: () => number): { ledger: Ledger; path: string } {
  const path = join(scratch(t), "ledger.db");
  const ledger = openLedger(path, now);
  t.after(() => ledger.close());
  return { ledger, path };
}

describe("the ledger", () => {
  it("remembers what began and how it ended, also when it is opened again", (t) => {
    const { ledger, path } = ledgerIn(t);
    assert.equal(ledger.find("a"), undefined);
    assert.equal(ledger.start(start("a")), true);
    assert.deepEqual(ledger.find("a"), { state: "started", payload: "p", holder: thisProcess() });
    ledger.finish("a", ENDED);
    ledger.close();
    const again = openLedger(path);
    assert.deepEqual(again.find("a"), { state: "finished", payload: "p", ended: ENDED });
    again.close();
  });

  it("is closed to all but its user, also in a folder that others can read and where it was open to them", (t) => {
    const folder = scratch(t);
    const path = join(folder, "ledger.db");
    openLedger(path).close();
    chmodSync(path, 0o644);
    chmodSync(folder, 0o755);
    const ledger = openLedger(path);
    t.after(() => ledger.close());
    ledger.start(start("a"));
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
    assert.deepEqual(Object.fromEntries(modes), { "ledger.db": 0o600, "ledger.db-shm": 0o600, "ledger.db-wal": 0o600 });
  });

  it("keeps the first outcome", (t) => {
    const { ledger } = ledgerIn(t);
    ledger.start(start("a"));
    ledger.finish("a", ENDED);
    ledger.finish("a", { type: "failed", fault: new Fault("TOOL_FAILED").report() });
    assert.deepEqual(ledger.find("a"), { state: "finished", payload: "p", ended: ENDED });
  });

  it("lets only one of two processes begin an action", (t) => {
    const { ledger, path } = ledgerIn(t);
    const other = openLedger(path);
    assert.equal(ledger.start(start("a")), true);
    assert.equal(other.start(start("a")), false);
    const later = { ...thisProcess(), pid: 999_999 };
    assert.equal(other.start(start("a", { holder: later }), later), false, "not from a holder it does not have");
    assert.equal(other.start(start("a", { holder: later }), thisProcess()), true, "from the holder it has");
    other.close();
  });

  it("fences off an epoch lower than the highest it has seen for the run", (t) => {
    const { ledger, path } = ledgerIn(t);
    ledger.start(start("a", { epoch: 7 }));
    assert.equal(ledger.start(start("b", { epoch: 6 })), false);
    assert.equal(ledger.find("b"), undefined);
    assert.equal(ledger.start(start("c", { epoch: 6, run: "run_2" })), true);
    ledger.close();
    const again = openLedger(path);
    assert.equal(again.epoch("run_1"), 7);
    again.close();
  });

  it("forgets an outcome after its time, but never that the action ran", (t) => {
    let now = 1_000_000;
    const { ledger, path } = ledgerIn(t, () => now);
    for (const id of ["acked", "unacked", "open"]) ledger.start(start(id));
    ledger.finish("acked", ENDED);
    ledger.finish("unacked", ENDED);
    ledger.acknowledge("acked");
    ledger.acknowledge("open");
    ledger.close();
    now += HAND_LIMITS.ledgerMs + 1;
    const later = openLedger(path, () => now);
    later.start(start("next"));
    assert.deepEqual(later.find("acked"), { state: "evicted" });
    assert.equal(later.find("unacked")?.state, "finished");
    assert.equal(later.find("open")?.state, "started");
    later.close();
  });

  it("keeps no more outcomes than its bound: the acknowledged go first, then the oldest", (t) => {
    const { ledger, path } = ledgerIn(t);
    ledger.close();
    const database = new DatabaseSync(path);
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${HAND_LIMITS.ledgerEntries})
      INSERT INTO action SELECT 'old-' || i, 'p', 'shell', 'h', 'b', 1, '1', i, '{}', 0, NULL FROM n;
      UPDATE action SET acked = 1 WHERE id = 'old-50'`);
    database.close();
    const again = openLedger(path);
    again.start(start("x", { holder: thisProcess() }));
    assert.deepEqual(again.find("old-50"), { state: "evicted" });
    assert.equal(again.find("old-1")?.state, "finished");
    again.close();
    const once = openLedger(path);
    once.start(start("y"));
    assert.deepEqual(once.find("old-1"), { state: "evicted" });
    assert.equal(once.find("old-2")?.state, "finished");
    once.close();
  });

  it("F26: refuses a ledger that a newer version wrote", (t) => {
    const { ledger, path } = ledgerIn(t);
    ledger.close();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 99");
    database.close();
    assert.throws(() => openLedger(path), { code: "STORE_NEWER", message: /version 99/u });
  });

  it("refuses a file that is no ledger", (t) => {
    const path = join(scratch(t), "ledger.db");
    writeFileSync(path, "this is not a database, and it is long enough to be looked at as one".repeat(20));
    assert.throws(() => openLedger(path), { code: "LEDGER_DAMAGED", message: /ledger\.db is damaged/u });
  });
});

/** A ledger that has begun so many actions and is closed. */
function begun(t: TestContext, actions: number): { path: string; marks: readonly string[] } {
  const { ledger, path } = ledgerIn(t);
  const marks = Array.from({ length: actions }, (_, nth) => {
    const { mark } = ledger;
    ledger.start(start(`a${nth}`));
    return mark;
  });
  ledger.close();
  return { path, marks };
}

/** Whether the ledger in a file knows each of the marks. */
function known(path: string, marks: readonly string[]): readonly boolean[] {
  const ledger = openLedger(path);
  try {
    return marks.map((mark) => ledger.knows(mark));
  } finally {
    ledger.close();
  }
}

describe("the marks of a ledger", () => {
  it("are known to the ledger that goes on, in every process that has it open", (t) => {
    const { ledger, path } = ledgerIn(t);
    const { mark } = ledger;
    ledger.start(start("a"));
    assert.deepEqual(known(path, [mark, ledger.mark]), [true, true]);
    ledger.close();
    assert.deepEqual(known(path, [mark, ledger.mark]), [true, true]);
  });

  it("differ after each start that is on disk, and only then", (t) => {
    const { ledger } = ledgerIn(t);
    const marks = [ledger.mark];
    ledger.start(start("a"));
    marks.push(ledger.mark);
    assert.equal(ledger.start(start("a")), false);
    assert.equal(new Set([...marks, ledger.mark]).size, 2);
  });

  it("F32: are not known to a new ledger, and rubbish is known to none", (t) => {
    const { path, marks } = begun(t, 2);
    rmSync(path);
    assert.deepEqual(known(path, [...marks, "", ".", "rubbish.1", "1.rubbish"]), Array(6).fill(false));
  });

  it("F32: are not known to a copy, whose original may have gone on", (t) => {
    const { path, marks } = begun(t, 2);
    const copy = `${path}.copy`;
    copyFileSync(path, copy);
    assert.deepEqual(known(copy, marks), [false, false]);
    assert.deepEqual(known(path, marks), [true, true]);
  });

  it("F32: are known to a ledger that was rolled back in place only up to where it stood", (t) => {
    const { ledger, path } = ledgerIn(t);
    const early = ledger.mark;
    const copy = `${path}.copy`;
    const reader = new DatabaseSync(path);
    reader.exec(`VACUUM INTO '${copy}'`);
    reader.close();
    ledger.start(start("a"));
    const late = ledger.mark;
    ledger.close();
    writeFileSync(path, readFileSync(copy));
    assert.deepEqual(known(path, [early, late]), [true, false]);
    // What goes on from the older state is no later state of the other one.
    const again = openLedger(path);
    for (const id of ["b", "c", "d"]) again.start(start(id));
    assert.deepEqual([again.knows(late), again.knows(again.mark)], [false, true]);
    again.close();
  });

  it("stay known when the ledger is moved on its disk", (t) => {
    const { path, marks } = begun(t, 2);
    renameSync(path, `${path}.moved`);
    assert.deepEqual(known(`${path}.moved`, marks), [true, true]);
  });

  it("G7: of the oldest openings are forgotten", (t) => {
    const { path, marks } = begun(t, 1);
    const database = new DatabaseSync(path);
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${HAND_LIMITS.ledgerOpenings})
      INSERT INTO opening SELECT i, 'o' || i, 0 FROM n`);
    database.close();
    assert.deepEqual(known(path, [...marks, "o2.0", "o3.0"]), [false, true, true]);
    assert.deepEqual(known(path, ["o2.0", "o3.0"]), [false, true]);
  });
});

describe("a ledger that is opened", () => {
  it("F26: is brought to this version with all that an older one has in it", (t) => {
    const { path } = begun(t, 1);
    const database = new DatabaseSync(path);
    database.exec("DROP TABLE file; DROP TABLE opening; ALTER TABLE action DROP COLUMN owner; PRAGMA user_version = 1");
    database.close();
    const ledger = openLedger(path);
    assert.equal(ledger.find("a0")?.state, "started");
    assert.equal(ledger.knows(ledger.mark), true);
    ledger.close();
  });

  it("F32 G10: is refused when it is damaged, and stays as it is", (t) => {
    const { path } = begun(t, 500);
    const bytes = readFileSync(path);
    bytes.fill(0x5a, bytes.length - 8192, bytes.length - 4096);
    writeFileSync(path, bytes);
    assert.throws(() => openLedger(path), { code: "LEDGER_DAMAGED", message: /ledger\.db is damaged/u });
    assert.deepEqual(readFileSync(path), bytes);
  });
});
