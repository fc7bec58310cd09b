import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Event, Journal } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { begin, entries, entry, folder, rejects, startedEvent } from "./journal.fixture.ts";
import type { RunFilter } from "./run-rules.ts";
import type { OpenStore } from "./stores.ts";

/** Runs a test on a fresh journal. */
export type OnJournal = (title: string, body: (journal: Journal) => Promise<void>) => void;

/** What every store keeps of the Journal port: making runs, appending, reading, listing. */
export function journalContract(name: string, open: OpenStore): void {
  const on: OnJournal = (title, body) =>
    void test(title, async () => {
      using place = folder();
      const { journal } = await open(join(place.path, "store"));
      try {
        await body(journal);
      } finally {
        await journal.close();
      }
    });
  void describe(`${name}: create`, () => createContract(on));
  void describe(`${name}: append`, () => appendContract(on));
  void describe(`${name}: read, head, list`, () => readContract(on));
  void describe(`${name}: close`, () => {
    on("closing commits what is waiting", async (journal) => {
      const lease = await begin(journal, "a");
      const waiting = journal.append(lease, [entry(2)]);
      await journal.close();
      await waiting;
    });
  });
}

function createContract(on: OnJournal): void {
  on("a new run has its first entries and a lease of epoch 1", async (journal) => {
    const first = [entry(1, startedEvent("count the files")), entry(2)];
    const made = await journal.create({ id: "a", owner: "me", thread: "t" }, first, thisHolder());
    assert.deepEqual(made.lease, { run: "a", epoch: 1 });
    const head = { id: "a", owner: "me", thread: "t", task: "count the files", status: "running", seq: 2 };
    assert.deepEqual({ ...made.head }, { ...head, startedAt: 1001, updatedAt: 1002 });
    assert.deepEqual({ ...(await journal.head("a")) }, { ...made.head });
    assert.deepEqual(await journal.read("a", 0, 10), first);
  });

  on("a key that is known gives its run, unchanged and without a lease", async (journal) => {
    const first = await journal.create({ id: "a", owner: "me", thread: "t", key: "k" }, [entry(1)], thisHolder());
    const second = await journal.create({ id: "b", owner: "me", thread: "u", key: "k" }, entries(1, 3), thisHolder());
    assert.deepEqual({ ...second.head }, { ...first.head });
    assert.equal(second.lease, undefined);
    assert.equal(await journal.head("b"), undefined);
  });

  on("the same key of another owner is another run", async (journal) => {
    const first = await journal.create({ id: "a", owner: "me", thread: "t", key: "k" }, [entry(1)], thisHolder());
    const second = await journal.create({ id: "b", owner: "you", thread: "t", key: "k" }, [entry(1)], thisHolder());
    assert.deepEqual([first.head.owner, second.head.owner, second.head.id], ["me", "you", "b"]);
    assert.deepEqual(second.lease, { run: "b", epoch: 1 });
    const again = await journal.create({ id: "c", owner: "you", thread: "t", key: "k" }, [entry(1)], thisHolder());
    assert.deepEqual({ ...again.head }, { ...second.head });
  });

  on("creates with one key in one turn make one run", async (journal) => {
    const made = await Promise.all(
      ["a", "b", "c"].map((id) => journal.create({ id, owner: "me", thread: "t", key: "k" }, [entry(1)], thisHolder())),
    );
    assert.deepEqual(
      made.map(({ head, lease }) => [head.id, lease?.epoch]),
      [
        ["a", 1],
        ["a", undefined],
        ["a", undefined],
      ],
    );
  });

  on("what an open run has alone gives that run while it is open, and a new one afterwards", async (journal) => {
    const make = (id: string, more: object = {}): ReturnType<Journal["create"]> =>
      journal.create({ id, owner: "me", thread: "t", sole: "s", ...more }, [entry(1)], thisHolder());
    const first = await make("a");
    const second = await make("b");
    assert.deepEqual([{ ...second.head }, second.lease], [{ ...first.head }, undefined]);
    assert.equal((await make("c", { owner: "you" })).head.id, "c", "of another owner");
    assert.equal((await make("d", { sole: "other" })).head.id, "d");
    assert.equal((await make("e", { key: "k" })).head.id, "a", "with a key that is not known");
    assert.ok(first.lease);
    await journal.append(first.lease, [entry(2, { type: "run.finished", result: null })]);
    const third = await make("f", { key: "k" });
    assert.deepEqual([third.head.id, third.lease?.epoch], ["f", 1]);
    assert.equal((await make("g", { sole: "other", key: "k" })).head.id, "f", "the key comes first");
  });

  on("creates of what is alone in one turn make one run", async (journal) => {
    const made = await Promise.all(
      ["a", "b", "c", "d"].map((id) =>
        journal.create({ id, owner: "me", thread: "t", sole: "s" }, [entry(1)], thisHolder()),
      ),
    );
    assert.deepEqual(
      made.map(({ head, lease }) => [head.id, lease?.epoch]),
      [
        ["a", 1],
        ["a", undefined],
        ["a", undefined],
        ["a", undefined],
      ],
    );
    assert.equal((await journal.list({ limit: 10 })).length, 1);
  });

  on("an id that is taken, no entries, or a wrong first seq is a conflict and makes nothing", async (journal) => {
    await begin(journal, "a");
    await rejects(journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], thisHolder()), "CONFLICT");
    await rejects(journal.create({ id: "b", owner: "me", thread: "t" }, [], thisHolder()), "CONFLICT");
    await rejects(journal.create({ id: "c", owner: "me", thread: "t" }, [entry(2)], thisHolder()), "CONFLICT");
    assert.equal((await journal.list({ limit: 10 })).length, 1);
  });
}

function appendContract(on: OnJournal): void {
  on("calls of one turn are carried out in order", async (journal) => {
    const lease = await begin(journal, "a");
    await Promise.all([2, 4, 6].map((from) => journal.append(lease, entries(from, from + 1))));
    assert.deepEqual(
      (await journal.read("a", 0, 10)).map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6, 7],
    );
  });

  on("entries that do not follow the last one are a conflict, and none of them is kept", async (journal) => {
    const lease = await begin(journal, "a");
    await rejects(journal.append(lease, [entry(1)]), "CONFLICT");
    await rejects(journal.append(lease, [entry(3)]), "CONFLICT");
    await rejects(journal.append(lease, [entry(2), entry(4)]), "CONFLICT");
    assert.equal((await journal.head("a"))?.seq, 1);
  });

  on("a refused call does not fail the others of its turn", async (journal) => {
    const [a, b] = [await begin(journal, "a"), await begin(journal, "b")];
    const settled = await Promise.allSettled([
      journal.append(a, [entry(2)]),
      journal.append({ run: "b", epoch: 7 }, [entry(2)]),
      journal.append(a, [entry(9)]),
      journal.append(b, [entry(2)]),
      journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], thisHolder()),
      journal.append(a, [entry(3)]),
    ]);
    const kinds = settled.map(({ status }) => status === "fulfilled");
    assert.deepEqual(kinds, [true, false, false, true, false, true]);
    assert.deepEqual([(await journal.head("a"))?.seq, (await journal.head("b"))?.seq], [3, 2]);
  });

  on("a lease that a newer one ended, or that never was, is lost", async (journal) => {
    const old = await begin(journal, "a");
    const lease = await journal.lease("a", thisHolder());
    await rejects(journal.append(old, [entry(2)]), "LEASE_LOST");
    await rejects(journal.append({ run: "nowhere", epoch: 1 }, [entry(2)]), "LEASE_LOST");
    await journal.append(lease, [entry(2)]);
  });

  for (const event of [
    { type: "run.finished", result: null },
    { type: "run.failed", fault: { code: "STEP_LIMIT", message: "" } },
    { type: "run.aborted", reason: "" },
  ] satisfies Event[]) {
    on(`nothing follows ${event.type}`, async (journal) => {
      const lease = await begin(journal, "a");
      await rejects(journal.append(lease, [entry(2, event), entry(3)]), "CONFLICT");
      await journal.append(lease, [entry(2, event)]);
      await rejects(journal.append(lease, [entry(3)]), "CONFLICT");
      assert.equal((await journal.head("a"))?.seq, 2);
    });
  }
}

function readContract(on: OnJournal): void {
  on("reading gives what comes after a place, in order, up to a limit", async (journal) => {
    await journal.append(await begin(journal, "a"), entries(2, 9));
    const seqs = async (after: number, limit: number): Promise<number[]> =>
      (await journal.read("a", after, limit)).map(({ seq }) => seq);
    assert.deepEqual(await seqs(0, 2), [1, 2]);
    assert.deepEqual(await seqs(3, 3), [4, 5, 6]);
    assert.deepEqual(await seqs(7, 100), [8, 9]);
    assert.deepEqual(await seqs(9, 100), []);
    assert.deepEqual(await seqs(50, 100), []);
  });

  on("a run that is not there has no head, and cannot be read, verified or leased", async (journal) => {
    assert.equal(await journal.head("a"), undefined);
    await rejects(journal.read("a", 0, 1), "NOT_FOUND");
    await rejects(journal.verify("a"), "NOT_FOUND");
    await rejects(journal.lease("a", thisHolder()), "NOT_FOUND");
  });

  on("any text comes back as it was written, and the chain is sound", async (journal) => {
    let made = 0;
    const text = fc.string({ unit: "binary", maxLength: 200 });
    const property = fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (notes) => {
      const id = `run ${(made += 1)}`;
      const written = notes.map((note, index) => entry(index + 1, { type: "note.observed", note }));
      await journal.create({ id, owner: "me", thread: "t" }, written, thisHolder());
      assert.deepEqual(await journal.read(id, 0, 10), written);
      assert.deepEqual(await journal.verify(id), { entries: notes.length });
    });
    await fc.assert(property, { numRuns: 50 });
  });

  on("a toolbelt and long texts come back to the letter in every run that has them", async (journal) => {
    const long = `say "no" \\ \u0001 ${"answer ".repeat(400)}`;
    const tools = [{ name: "shell", description: long, parameters: { type: "object" }, idempotent: false }];
    const started = startedEvent(long);
    assert.ok(started.type === "run.started");
    const written = [
      entry(1, { ...started, tools, history: [{ role: "user", text: long }] }),
      entry(2, { type: "note.observed", note: long }),
      entry(3, { type: "run.finished", result: { text: long, also: [long, long] } }),
    ];
    for (const id of ["a", "b"]) {
      const { lease } = await journal.create({ id, owner: "me", thread: "t" }, written.slice(0, 1), thisHolder());
      assert.ok(lease);
      await journal.append(lease, written.slice(1));
      await journal.append(lease, written.slice(1));
      assert.deepEqual(await journal.read(id, 0, 10), written);
      assert.deepEqual(await journal.verify(id), { entries: 3 });
    }
  });

  on("the status of a run follows its events", async (journal) => {
    const lease = await begin(journal, "a");
    const standing = async (seq: number, event: Event): Promise<string | undefined> => {
      await journal.append(lease, [entry(seq, event)]);
      return (await journal.head("a"))?.status;
    };
    const about = { kind: "ask" } as const;
    const asked: Event = { type: "question.asked", id: "q", about, text: "?", options: [], expiresAt: 0 };
    assert.equal(await standing(2, asked), "asking");
    assert.equal(await standing(3, { type: "note.observed", note: "" }), "asking");
    assert.equal(await standing(4, { type: "question.answered", id: "q", answer: "yes", by: "me" }), "running");
    assert.equal(await standing(5, { type: "run.finished", result: 1 }), "finished");
    assert.deepEqual(await journal.verify("a"), { entries: 5 });
  });

  on("runs are listed newest first, by owner, by thread and by whether they are open", async (journal) => {
    for (const [id, thread, owner] of [
      ["a", "t", "me"],
      ["b", "u", "you"],
      ["c", "t", "you"],
      ["d", "t", "me"],
    ] as const) {
      const { lease } = await journal.create({ id, owner, thread }, [entry(1)], thisHolder());
      if (id === "c" && lease) await journal.append(lease, [entry(2, { type: "run.aborted", reason: "" })]);
    }
    const ids = async (filter: RunFilter): Promise<string> => (await journal.list(filter)).map(({ id }) => id).join("");
    assert.equal(await ids({ limit: 10 }), "dcba");
    assert.equal(await ids({ limit: 2 }), "dc");
    assert.equal(await ids({ limit: 10, thread: "t" }), "dca");
    assert.equal(await ids({ limit: 10, open: true }), "dba");
    assert.equal(await ids({ limit: 10, open: false }), "c");
    assert.equal(await ids({ limit: 10, open: true, thread: "t" }), "da");
    assert.equal(await ids({ limit: 10, owner: "me" }), "da");
    assert.equal(await ids({ limit: 1, owner: "you" }), "c");
    assert.equal(await ids({ limit: 10, owner: "you", thread: "t", open: false }), "c");
    assert.equal(await ids({ limit: 10, owner: "nobody" }), "");
    assert.equal(await ids({ limit: 10, ending: "b" }), "b");
    assert.equal(await ids({ limit: 10, ending: "%b" }), "");
    assert.equal(await ids({ limit: 10, ending: "ab" }), "");
    assert.equal(await ids({ limit: 2, after: "d" }), "cb");
    assert.equal(await ids({ limit: 10, after: "c", thread: "t" }), "a");
    assert.equal(await ids({ limit: 10, after: "a" }), "");
    await rejects(journal.list({ limit: 10, after: "nothing" }), "NOT_FOUND");
  });
}
