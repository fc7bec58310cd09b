import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { RunSealReport } from "@vidro/core";
import { begin, entry, folder } from "../journal.fixture.ts";
import { sealKey } from "../seal.ts";
import { sqliteStore } from "../sqlite.ts";

/* What the seals say of one run; `vidro audit verify`, which checks them all, is tested with the command. */

const AT = 1_700_000_000_000;

interface Sealed {
  /** Checks a run, with what was found. */
  readonly check: (run: string) => RunSealReport & { readonly findings: readonly string[] };
  /** Appends an entry to a run, which its end seals. */
  readonly end: (run: string) => Promise<void>;
  /** Changes the file behind the store's back. */
  readonly change: (sql: string, ...values: readonly string[]) => void;
  readonly key: string;
}

/** A store with a key of its own and two runs, `one` and `two`. */
async function sealedStore(t: TestContext): Promise<Sealed> {
  const place = folder();
  t.after(() => place[Symbol.dispose]());
  const key = await sealKey(join(place.path, "audit-key"));
  const path = join(place.path, "store");
  const store = await sqliteStore(path, { now: () => AT, sealKey: key });
  t.after(() => store.close());
  const leases = { one: await begin(store.journal, "one"), two: await begin(store.journal, "two") };
  return {
    key: key.fingerprint,
    check(run) {
      const findings: string[] = [];
      assert.ok(store.audit);
      return { ...store.audit.checkRun(run, (finding) => findings.push(finding)), findings };
    },
    end: (run) =>
      store.journal.append(leases[run as "one"], [
        entry(2, { type: "note.observed", note: run }),
        entry(3, { type: "run.aborted", reason: "done" }),
      ]),
    change(sql, ...values) {
      using database = new DatabaseSync(path);
      database.prepare(sql).run(...values);
    },
  };
}

test("a run that has ended is sealed up to its last entry, and one that was never there by no seal", async (t) => {
  const { check, end, key } = await sealedStore(t);
  await end("one");
  const { upTo, at, findings, seals, key: used } = check("one");
  assert.deepEqual([upTo, at, findings, used], [3, AT, [], key]);
  assert.ok(seals >= 1);
  assert.deepEqual(check("three"), { seals: 0, upTo: 0, at: undefined, key, findings: [] });
});

test("a change is found in the run that was changed, and in no other", async (t) => {
  const { check, end, change } = await sealedStore(t);
  await end("one");
  await end("two");
  change("UPDATE entry SET hash = unhex('00') WHERE seq = 3 AND run = (SELECT number FROM run WHERE id = ?)", "one");
  assert.match(check("one").findings.join("\n"), /^run one was written anew: entry 3 is not the one of seal \d+$/);
  assert.deepEqual(check("two").findings, []);
  change("UPDATE run SET owner = 'eve' WHERE id = ?", "two");
  assert.match(check("two").findings.join("\n"), /^run two has another owner/);
});

test("a seal that another wrote is told as such and says nothing of the run, not even what is no JSON", async (t) => {
  const { check, end, change, key } = await sealedStore(t);
  await end("one");
  change(`UPDATE seal SET body = '{"runs":[{"id":' || ? || ', and so on'`, JSON.stringify("one"));
  const { upTo, findings } = check("one");
  assert.equal(upTo, 0);
  assert.ok(findings.length > 0);
  for (const finding of findings)
    assert.match(finding, new RegExp(`^seal \\d+ is not signed with the key of this home \\(SHA-256 ${key}\\)$`));
});
