import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { Entry, Event, Journal, Lease, Records, ToolSpec } from "@vidro/core";
import { KeptTools } from "../catalog/kept-tools.ts";
import { begin, entry } from "../stores/journal.fixture.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import { memoryStore } from "../stores/memory.ts";
import { keptToolJournal } from "./kept-tool-journal.ts";

const PLACE = { owner: "me", thread: "t" };

function tool(name: string): ToolSpec {
  return { name, description: "d", parameters: {}, idempotent: false, argv: ["df"] };
}

/** A proposal behind entry `seq - 1`, and the question about it; the answer comes next. */
function proposed(seq: number, name: string): Entry[] {
  const about = { kind: "tool", tool: tool(name) } as const;
  const asked = { type: "question.asked", id: `q${seq + 1}`, about, text: "?", options: ["yes", "no"], expiresAt: 0 };
  return [entry(seq, { type: "tool.proposed", tool: tool(name) }), entry(seq + 1, asked as Event)];
}

function answered(seq: number, answer = "yes", by: string | undefined = "ana"): Entry {
  return entry(seq, { type: "question.answered", id: `q${seq - 1}`, answer, ...(by === undefined ? {} : { by }) });
}

/** A brain on a store; `fault` is what each change of the kept tools meets until it is taken away. */
function brainOn(store: { journal: Journal; records: Records }) {
  const trouble: { fault?: Fault } = {};
  const failures: unknown[] = [];
  const kept = new KeptTools(store.records);
  const journal = keptToolJournal(store.journal, {
    kept: {
      keep: async (place, what) => {
        if (trouble.fault !== undefined) throw trouble.fault;
        await kept.keep(place, what);
      },
    },
    records: store.records,
    failed: (thrown) => void failures.push(thrown),
  });
  const names = async (): Promise<string[]> => (await kept.of(PLACE)).map(({ name }) => name);
  const due = async (): Promise<string[]> =>
    (await store.records.list("kept_tool_due", { limit: 9 })).map(({ id }) => id);
  return { journal, names, due, failures, trouble, kept };
}

/** The next process takes up the run. */
function takeUp(journal: Journal, lease: Lease): Promise<Lease> {
  return journal.release(lease).then(() => journal.lease(lease.run, thisHolder()));
}

test("a person's yes to a proposed tool keeps it, with its source, and leaves nothing to do", async () => {
  const { journal, names, due, kept, failures } = brainOn(memoryStore());
  const lease = await begin(journal, "a");
  await journal.append(lease, proposed(2, "disk"));
  await journal.append(lease, [answered(4)]);
  assert.deepEqual([await names(), await due(), failures], [["disk"], [], []]);
  const [row] = await kept.list();
  assert.deepEqual([row?.by, row?.at, row?.source], ["ana", 1004, { run: "a", seq: 2 }]);
});

test("a no, no answer in time, and an answer to another question keep nothing and leave nothing to do", async () => {
  for (const said of [answered(4, "no"), answered(4, "", undefined), entry(4, answered(5).event)]) {
    const { journal, names, due, failures } = brainOn(memoryStore());
    const lease = await begin(journal, "a");
    await journal.append(lease, proposed(2, "disk"));
    await journal.append(lease, [said]);
    assert.deepEqual([await names(), await due(), failures], [[], [], []]);
  }
});

test("a tool that could not be kept when it was approved is kept when a run is taken up", async () => {
  const store = memoryStore();
  const { journal, names, due, failures, trouble } = brainOn(store);
  const lease = await begin(journal, "a");
  await journal.append(lease, proposed(2, "disk"));
  const fault = new Fault("STORE_BUSY", "not now");
  trouble.fault = fault;
  await journal.append(lease, [answered(4)]);
  assert.deepEqual([await names(), await due(), failures], [[], ["a.4"], [fault]]);
  // Another process, on what this one left.
  const next = brainOn(store);
  await takeUp(next.journal, lease);
  assert.deepEqual([await next.names(), await next.due(), next.failures], [["disk"], [], []]);
});

test("a tool that a person removed does not come back when its run is taken up", async () => {
  const store = memoryStore();
  const { journal, names, kept } = brainOn(store);
  const lease = await begin(journal, "a");
  await journal.append(lease, [...proposed(2, "disk"), answered(4)]);
  await kept.remove(await kept.find("disk.t"));
  await takeUp(brainOn(store).journal, lease);
  assert.deepEqual(await names(), []);
});

test("a tool that is one too many is refused once, and one of a deleted run is forgotten", async () => {
  const store = memoryStore();
  const { journal, names, due, failures, trouble } = brainOn(store);
  const lease = await begin(journal, "a");
  await store.records.put({ kind: "kept_tool_due", id: "deleted.4", owner: "", body: {} });
  trouble.fault = new Fault("CONFLICT", "too many");
  await journal.append(lease, [...proposed(2, "disk"), answered(4)]);
  delete trouble.fault;
  await takeUp(journal, lease);
  assert.deepEqual([await names(), await due(), failures.length], [[], [], 1]);
});

test("a run whose journal cannot be read keeps no tool of another from being kept", async () => {
  const store = memoryStore();
  const broken = brainOn({ ...store, journal: unreadable(store.journal, "a") });
  const leases = [await begin(store.journal, "a"), await begin(store.journal, "b")];
  for (const [index, lease] of leases.entries()) {
    const beside = [{ kind: "kept_tool_due", id: `${lease.run}.4`, owner: "", body: {} }];
    await store.journal.append(lease, [...proposed(2, `disk_${index}`), answered(4)], beside);
  }
  for (const lease of leases.slice(1)) await takeUp(broken.journal, lease);
  assert.deepEqual([await broken.names(), await broken.due()], [["disk_1"], ["a.4"]]);
  assert.equal(broken.failures.length, 1);
});

/** The same journal, in which one run cannot be read. */
function unreadable(inner: Journal, lost: string): Journal {
  return new Proxy(inner, {
    get(_, name: keyof Journal) {
      if (name === "read")
        return (run: string, after: number, limit: number) =>
          run === lost ? Promise.reject(new Fault("JOURNAL_CORRUPT", "torn")) : inner.read(run, after, limit);
      return (inner[name] as (...given: unknown[]) => unknown).bind(inner);
    },
  });
}
