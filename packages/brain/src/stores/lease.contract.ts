import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { Fault, RUN_LIMITS } from "@vidro/core";
import type { Entry, Journal, Lease, LeaseHolder } from "@vidro/core";
import { thisHolder } from "./lease-holder.ts";
import { begin, entries, entry, folder, neighbour, rejects } from "./journal.fixture.ts";
import type { OpenStore } from "./stores.ts";

/** What a test of leases has at hand. */
interface Scene {
  readonly journal: Journal;
  /** A process that lives, until `end`. */
  readonly other: { readonly holder: LeaseHolder; end(): Promise<void> };
  readonly clock: { now: number };
}

/** What every store keeps of the Journal port: leases, wakes, and any interleaving of two who append. */
export function leaseContract(name: string, open: OpenStore): void {
  const on = (title: string, body: (scene: Scene) => Promise<void>): void =>
    void test(title, async () => {
      using place = folder();
      const clock = { now: 1_000_000 };
      const { journal } = await open(join(place.path, "store"), { now: () => clock.now });
      const other = await neighbour("holder.fixture.ts");
      try {
        await body({ journal, other, clock });
      } finally {
        await other.end();
        await journal.close();
      }
    });
  void describe(`${name}: lease`, () => takeOverContract(on));
  void describe(`${name}: renew, release`, () => renewContract(on));
  void describe(`${name}: watch`, () => watchContract(on));
  void test(`${name}: two who append in any interleaving keep the run gapless and its chain sound`, async () => {
    using place = folder();
    const { journal } = await open(join(place.path, "store"));
    await interleavings([journal, journal]);
    await journal.close();
  });
}

type On = (title: string, body: (scene: Scene) => Promise<void>) => void;

function takeOverContract(on: On): void {
  on("a run is busy while its holder lives, and free once that is dead", async ({ journal, other }) => {
    await journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], other.holder);
    await rejects(journal.lease("a", thisHolder()), "RUN_BUSY");
    await other.end();
    assert.deepEqual(await journal.lease("a", thisHolder()), { run: "a", epoch: 2 });
  });

  on("a run is free once its lease ran out, though the holder lives", async ({ journal, other, clock }) => {
    await journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], other.holder);
    clock.now += RUN_LIMITS.leaseMs - 1;
    await rejects(journal.lease("a", thisHolder()), "RUN_BUSY");
    clock.now += 1;
    assert.equal((await journal.lease("a", thisHolder())).epoch, 2);
  });

  on("a holder of another host is trusted to live until its lease runs out", async ({ journal, clock }) => {
    const far = { ...thisHolder(), host: "elsewhere", pid: 1 };
    await journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], far);
    await rejects(journal.lease("a", thisHolder()), "RUN_BUSY");
    clock.now += RUN_LIMITS.leaseMs;
    assert.equal((await journal.lease("a", thisHolder())).epoch, 2);
  });

  on("a process may take its own run over, and each lease is one epoch higher", async ({ journal }) => {
    await begin(journal, "a");
    assert.equal((await journal.lease("a", thisHolder())).epoch, 2);
    assert.equal((await journal.lease("a", thisHolder())).epoch, 3);
  });
}

function renewContract(on: On): void {
  on("a renewed lease holds for another term", async ({ journal, other, clock }) => {
    const { lease } = await journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], other.holder);
    assert.ok(lease);
    clock.now += RUN_LIMITS.leaseMs - 1;
    await journal.renew(lease);
    clock.now += RUN_LIMITS.leaseMs - 1;
    await rejects(journal.lease("a", thisHolder()), "RUN_BUSY");
    clock.now += 1;
    await journal.lease("a", thisHolder());
    await rejects(journal.renew(lease), "LEASE_LOST");
  });

  on("a lease that was given back is free at once and appends no more", async ({ journal, other }) => {
    const { lease } = await journal.create({ id: "a", owner: "me", thread: "t" }, [entry(1)], other.holder);
    assert.ok(lease);
    await journal.release(lease);
    await rejects(journal.append(lease, [entry(2)]), "LEASE_LOST");
    await rejects(journal.renew(lease), "LEASE_LOST");
    assert.equal((await journal.lease("a", thisHolder())).epoch, 2);
  });

  on("entries that were appended before the lease was given back are kept", async ({ journal }) => {
    const lease = await begin(journal, "a");
    const appending = [journal.append(lease, [entry(2)]), journal.append(lease, [entry(3)])];
    await journal.release(lease);
    await Promise.all(appending);
    assert.equal((await journal.head("a"))?.seq, 3);
  });

  on("giving back a lease that is lost changes nothing", async ({ journal, other }) => {
    const old = await begin(journal, "a");
    const lease = await journal.lease("a", thisHolder());
    await journal.release(old);
    await journal.release({ run: "nowhere", epoch: 1 });
    await rejects(journal.lease("a", other.holder), "RUN_BUSY");
    await journal.append(lease, [entry(2)]);
  });
}

function watchContract(on: On): void {
  on("a commit wakes the watchers of the run and no others", async ({ journal }) => {
    const [a, b] = [await begin(journal, "a"), await begin(journal, "b")];
    const woken: string[] = [];
    const stops = [
      journal.watch("a", () => woken.push("a1")),
      journal.watch("a", () => woken.push("a2")),
      journal.watch("b", () => woken.push("b")),
    ];
    await journal.append(a, [entry(2)]);
    await rejects(journal.append(b, [entry(9)]), "CONFLICT");
    assert.deepEqual(woken.splice(0), ["a1", "a2"]);
    stops[0]?.();
    await journal.append(a, [entry(3)]);
    await journal.append(b, [entry(2)]);
    assert.deepEqual(woken.splice(0), ["a2", "b"]);
    for (const stop of stops) stop();
    await journal.append(a, [entry(4)]);
    assert.deepEqual(woken, []);
  });

  on("what a wake announces can be read", async ({ journal }) => {
    const lease = await begin(journal, "a");
    const seen = new Promise<number>((resolve, reject) => {
      journal.watch("a", () => void journal.read("a", 1, 10).then((read) => resolve(read.length), reject));
    });
    await journal.append(lease, entries(2, 4));
    assert.equal(await seen, 3);
  });
}

/** Any mix of appends and takeovers by two who may each have a journal of their own on one store. */
export async function interleavings(journals: readonly [Journal, Journal]): Promise<void> {
  const move = fc.record({ who: fc.nat(1), count: fc.integer({ min: 0, max: 3 }), together: fc.boolean() });
  let made = 0;
  const property = fc.asyncProperty(fc.array(move, { maxLength: 20 }), async (moves) => {
    const id = `run ${(made += 1)}`;
    const leases: Lease[] = Array.from({ length: 2 }, () => ({ run: id, epoch: 1 }));
    await begin(journals[0], id);
    const told = [1, 1];
    const waiting: Promise<void>[] = [];
    const last = [1];
    for (const { who, count, together } of moves) {
      const journal = journals[who] ?? journals[0];
      const lease = leases[who] ?? { run: id, epoch: 1 };
      const from = (told[who] ?? 1) + 1;
      const carriedOut = async (): Promise<void> => {
        if (count === 0) leases[who] = await journal.lease(id, thisHolder());
        else last.push(await appended(journal, lease, entries(from, from + count - 1)));
      };
      told[who] = from - 1 + count;
      waiting.push(carriedOut());
      if (together) continue;
      await Promise.all(waiting.splice(0));
      told[who] = (await journal.head(id))?.seq ?? 0;
    }
    await Promise.all(waiting);
    const acknowledged = Math.max(...last);
    const read = await journals[1].read(id, 0, 1000);
    assert.deepEqual(
      read.map(({ seq }) => seq),
      read.map((_, index) => index + 1),
    );
    assert.equal(read.length, acknowledged);
    assert.deepEqual(await journals[0].verify(id), { entries: acknowledged });
  });
  await fc.assert(property, { numRuns: 60 });
}

/** The last `seq` that is certain to be there: 0 when the append was refused, as it may be. */
async function appended(journal: Journal, lease: Lease, more: readonly Entry[]): Promise<number> {
  try {
    await journal.append(lease, more);
    return more.at(-1)?.seq ?? 0;
  } catch (thrown) {
    assert.ok(thrown instanceof Fault);
    assert.ok(thrown.code === "CONFLICT" || thrown.code === "LEASE_LOST", thrown.message);
    return 0;
  }
}
