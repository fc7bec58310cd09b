import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { Fault, HAND, type Ended } from "@vidro/core";
import { thisProcess } from "./host.ts";
import { openLedger, type Ledger, type Start } from "./ledger.ts";
import { scratch } from "./scratch.fixture.ts";

const ENDED: Ended = { type: "finished", outcome: { kind: "value", text: "done" } };

function start(id: string, more: Partial<Start> = {}): Start {
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
    now += HAND.ledgerMs + 1;
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
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${HAND.ledgerEntries})
      INSERT INTO action SELECT 'old-' || i, 'p', 'shell', 'h', 'b', 1, '1', i, '{}', 0 FROM n;
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
    assert.throws(() => openLedger(path), { code: "LEDGER_UNWRITABLE" });
  });
});
