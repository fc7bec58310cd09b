import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { RECORD_LIMITS } from "@vidro/core";
import type { NewRecord } from "@vidro/core";
import { begin, entry, folder, rejects } from "./journal.fixture.ts";
import { thisHolder } from "./lease-holder.ts";
import type { Store } from "./store.ts";
import type { OpenStore } from "./stores.ts";

/** A record of the kind `message`. */
function message(id: string, said = "hello"): NewRecord {
  return { kind: "message", id, owner: "me", body: { said } };
}

async function messagesIn({ records }: Store): Promise<readonly string[]> {
  const listed = await records.list("message", { limit: 100 });
  return listed.map(({ id, version, body }) => `${id} ${version} ${JSON.stringify(body["said"])}`);
}

/** What every store keeps of records that are made beside entries: both are there, or neither. */
export function besideContract(name: string, open: OpenStore): void {
  const on = (title: string, body: (store: Store) => Promise<void>): void =>
    void test(title, async () => {
      using place = folder();
      const store = await open(join(place.path, "store"));
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });
  void describe(`${name}: records beside entries`, () => {
    madeContract(on);
    refusedContract(on);
  });
}

type OnStore = (title: string, body: (store: Store) => Promise<void>) => void;

function madeContract(on: OnStore): void {
  on("are there with the run that is made, and with the entries that are appended", async (store) => {
    const { journal } = store;
    const run = { id: "a", owner: "me", thread: "t", beside: [message("one"), message("two")] };
    const { lease } = await journal.create(run, [entry(1)], thisHolder());
    assert.ok(lease);
    assert.deepEqual(await messagesIn(store), ['one 1 "hello"', 'two 1 "hello"']);
    await journal.append(lease, [entry(2)], [message("three")]);
    assert.deepEqual(await messagesIn(store), ['one 1 "hello"', 'two 1 "hello"', 'three 1 "hello"']);
  });

  on("of many runs in one turn of the event loop are all there, in their order", async (store) => {
    const { journal } = store;
    const leases = await Promise.all(["a", "b", "c"].map((id) => begin(journal, id)));
    const others = { kind: "other", id: "x", owner: "me", body: {} };
    await Promise.all(
      leases.flatMap((lease) =>
        [2, 3].map((seq) => journal.append(lease, [entry(seq)], [message(`${lease.run}${seq}`), others])),
      ),
    );
    const expected = ["a2", "a3", "b2", "b3", "c2", "c3"].map((id) => `${id} 1 "hello"`);
    assert.deepEqual(await messagesIn(store), expected);
    assert.equal((await store.records.get("other", "x"))?.version, 1);
  });

  on("wake those that watch their kind, and can be changed like others", async (store) => {
    const { journal, records } = store;
    const lease = await begin(journal, "a");
    const woken = new Promise<void>((wake) => void records.watch("message", wake));
    await journal.append(lease, [entry(2)], [message("one")]);
    await woken;
    assert.equal((await records.put(message("one", "changed"), 1)).version, 2);
    assert.equal(await records.delete("message", "one"), true);
  });

  on("that are there already stay as they are", async (store) => {
    const { journal, records } = store;
    await records.put(message("one", "first"));
    await journal.append(await begin(journal, "a"), [entry(2)], [message("one"), message("two"), message("two", "no")]);
    assert.deepEqual(await messagesIn(store), ['one 1 "first"', 'two 1 "hello"']);
  });
}

function refusedContract(on: OnStore): void {
  on("are not made again by an append that is repeated", async (store) => {
    const { journal, records } = store;
    const lease = await begin(journal, "a");
    await journal.append(lease, [entry(2)], [message("one")]);
    await records.delete("message", "one");
    await journal.append(lease, [entry(2)], [message("one")]);
    assert.deepEqual(await messagesIn(store), []);
  });

  on("are not made when their run or entries are refused", async (store) => {
    const { journal } = store;
    const keyed = { id: "a", owner: "me", thread: "t", key: "k" };
    const { lease } = await journal.create(keyed, [entry(1)], thisHolder());
    assert.ok(lease);
    await journal.create({ ...keyed, id: "b", beside: [message("one")] }, [entry(1)], thisHolder());
    const taken = { id: "a", owner: "me", thread: "t", beside: [message("one")] };
    await rejects(journal.create(taken, [entry(1), entry(2)], thisHolder()), "CONFLICT");
    await rejects(journal.append(lease, [entry(3)], [message("one")]), "CONFLICT");
    await rejects(journal.append({ ...lease, epoch: 9 }, [entry(2)], [message("one")]), "LEASE_LOST");
    await journal.release(lease);
    await rejects(journal.append(lease, [entry(2)], [message("one")]), "LEASE_LOST");
    assert.deepEqual(await messagesIn(store), []);
  });

  on("that no store takes keep their run and entries out, and no others", async (store) => {
    const { journal } = store;
    const tooLarge = message("one", "x".repeat(RECORD_LIMITS.bodyBytes));
    const [lease, other] = await Promise.all([begin(journal, "a"), begin(journal, "b")]);
    const refused = rejects(journal.append(lease, [entry(2)], [message("two"), tooLarge]), "PAYLOAD_TOO_LARGE");
    await Promise.all([refused, journal.append(other, [entry(2)], [message("three")])]);
    const run = { id: "c", owner: "me", thread: "t", beside: [tooLarge] };
    await rejects(journal.create(run, [entry(1)], thisHolder()), "PAYLOAD_TOO_LARGE");
    assert.deepEqual([(await journal.head("a"))?.seq, await journal.head("c")], [1, undefined]);
    assert.deepEqual(await messagesIn(store), ['three 1 "hello"']);
  });
}
