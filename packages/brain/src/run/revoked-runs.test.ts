import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, TOKEN_LIMITS } from "@vidro/core";
import type { Entry, FaultCode, Model } from "@vidro/core";
import { Tokens } from "../auth/tokens.ts";
import type { LogFields } from "../observe/log.ts";
import { lineHead } from "../observe/log.ts";
import { openHand, openRuns, temporaryFolder } from "../../../../tests/support/local-runs.ts";
import { memoryStore } from "../stores/memory.ts";
import { RevokedRuns } from "./revoked-runs.ts";
import type { Runs } from "./runs.ts";
import { REVOKED_REASON } from "./revoked-token.ts";

/** A model that says nothing until its call is aborted. */
const SILENT: Model = {
  name: "silent",
  async *call(_, signal) {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { type: "failed", fault: { code: "MODEL_CUT", message: "aborted" } };
  },
};

/** Tokens and runs on one store, and what the log has. */
async function stage(t: TestContext) {
  const folder = temporaryFolder(t);
  const { journal, records } = memoryStore();
  const hand = await openHand(folder, folder);
  const runs = openRuns({ journal, model: SILENT, hand });
  const tokens = new Tokens(records);
  const lines: LogFields[] = [];
  const waiting = new Set<() => void>();
  const watch = (seen: Pick<Runs, "list" | "read" | "abort"> = runs): RevokedRuns => {
    const revoked = new RevokedRuns({
      tokens,
      runs: seen,
      log: (event, fields) => {
        lines.push({ ...lineHead(event), ...fields });
        for (const wake of waiting) wake();
      },
    });
    t.after(() => revoked.close());
    return revoked;
  };
  /** Resolves with the first line of that name. */
  const logged = async (event: string): Promise<LogFields> => {
    for (;;) {
      const found = lines.find((line) => line["event"] === event);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  const start = async (owner: string, token: string): Promise<string> =>
    (await runs.start({ task: "x", workspace: folder, owner, token })).run.id;
  /** The last event of a run that is over. */
  const endOf = async (run: string): Promise<Entry["event"]> => {
    let last: Entry["event"] | undefined;
    for await (const followed of runs.follow(run)) if ("entry" in followed) last = followed.entry.event;
    return last ?? assert.fail("the run has no entries");
  };
  const statusOf = async (run: string): Promise<string> => (await runs.find(run)).status;
  t.after(async () => {
    await runs.close();
    await hand.close();
    tokens.close();
  });
  return { runs, tokens, lines, watch, logged, start, endOf, statusOf };
}

test("the runs of a token end when it is revoked, and those of other tokens of its owner go on", async (t) => {
  const { tokens, watch, start, endOf, statusOf, logged } = await stage(t);
  const [one, other] = [await tokens.create({ owner: "ana" }), await tokens.create({ owner: "ana" })];
  const [first, second, third] = [
    await start("ana", one.tokenId),
    await start("ana", one.tokenId),
    await start("ana", other.tokenId),
  ];
  await watch().start();
  await tokens.revoke(one.tokenId);
  for (const run of [first, second])
    assert.deepEqual(await endOf(run), { type: "run.aborted", reason: REVOKED_REASON });
  assert.deepEqual((await logged("run.revoked"))["token_id"], one.tokenId);
  assert.equal(await statusOf(third), "running");
});

test("what was revoked while no brain looked is ended before the start is done", async (t) => {
  const { tokens, watch, start, statusOf } = await stage(t);
  const { tokenId } = await tokens.create({ owner: "ana" });
  const run = await start("ana", tokenId);
  await tokens.revoke(tokenId);
  await watch().start();
  assert.equal(await statusOf(run), "aborted");
});

/** The same runs, of which one call fails for as long as the test says. */
function failing(
  runs: Runs,
  change: Partial<Pick<Runs, "list" | "read" | "abort">>,
): Pick<Runs, "list" | "read" | "abort"> {
  return {
    list: (filter) => runs.list(filter),
    read: (run, after, limit) => runs.read(run, after, limit),
    abort: (run, reason) => runs.abort(run, reason),
    ...change,
  };
}

for (const code of ["STORE_BUSY", "STORE_UNREACHABLE", "STORE_FAILED"] satisfies FaultCode[])
  test(`a store that says ${code} while a run is read is asked again, and the run is ended`, async (t) => {
    const { tokens, runs, watch, start, endOf, logged } = await stage(t);
    const { tokenId } = await tokens.create({ owner: "ana" });
    const run = await start("ana", tokenId);
    let failures = 2;
    const read: Runs["read"] = async (id, after, limit) => {
      if ((failures -= 1) >= 0) throw new Fault(code);
      return runs.read(id, after, limit);
    };
    await tokens.revoke(tokenId);
    await watch(failing(runs, { read })).start();
    assert.equal((await logged("runs.revoke_failed"))["code"], code);
    assert.equal((await endOf(run)).type, "run.aborted");
  });

test("a run that cannot be read for good keeps no other run of its token", async (t) => {
  const { tokens, runs, watch, start, statusOf } = await stage(t);
  const { tokenId } = await tokens.create({ owner: "ana" });
  const [damaged, whole] = [await start("ana", tokenId), await start("ana", tokenId)];
  const read: Runs["read"] = async (id, after, limit) => {
    if (id === damaged) throw new Fault("JOURNAL_CORRUPT", "It cannot be read.");
    return runs.read(id, after, limit);
  };
  await tokens.revoke(tokenId);
  await watch(failing(runs, { read })).start();
  assert.equal(await statusOf(whole), "aborted");
});

test("a run that cannot be aborted now keeps the runs of no other token, and is tried again", async (t) => {
  const { tokens, runs, watch, start, endOf, statusOf, logged } = await stage(t);
  const made = [await tokens.create({ owner: "ana" }), await tokens.create({ owner: "bob" })];
  const held: string[] = [];
  for (const { owner, tokenId } of made) held.push(await start(owner, tokenId));
  const [stuck = "", free = ""] = held;
  let isStuck = true;
  const abort: Runs["abort"] = async (run, reason) => {
    if (run === stuck && isStuck) throw new Fault("RUN_BUSY", "Another brain drives it.");
    return runs.abort(run, reason);
  };
  for (const { tokenId } of made) await tokens.revoke(tokenId);
  await watch(failing(runs, { abort })).start();
  assert.equal((await logged("runs.revoke_failed"))["code"], "RUN_BUSY");
  assert.deepEqual([await statusOf(stuck), await statusOf(free)], ["running", "aborted"]);
  isStuck = false;
  assert.equal((await endOf(stuck)).type, "run.aborted");
});

test("a run that ended by itself is no failure", async (t) => {
  const { tokens, runs, watch, start, lines } = await stage(t);
  const { tokenId } = await tokens.create({ owner: "ana" });
  await start("ana", tokenId);
  const abort: Runs["abort"] = () => Promise.reject(new Fault("CONFLICT", "It is over."));
  await tokens.revoke(tokenId);
  await watch(failing(runs, { abort })).start();
  assert.equal(
    lines.some((line) => line["event"] === "runs.revoke_failed"),
    false,
  );
});

test("after it is closed nothing is looked at, though a look has failed", async (t) => {
  const { tokens, runs, watch, start, statusOf } = await stage(t);
  const { tokenId } = await tokens.create({ owner: "ana" });
  const run = await start("ana", tokenId);
  await tokens.revoke(tokenId);
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let reads = 0;
  const read: Runs["read"] = async () => {
    reads += 1;
    asked.resolve();
    await go.promise;
    throw new Fault("STORE_BUSY");
  };
  const revoked = watch(failing(runs, { read }));
  const started = revoked.start();
  await asked.promise;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const closed = revoked.close();
  go.resolve();
  await Promise.all([started, closed]);
  t.mock.timers.tick(2 * TOKEN_LIMITS.recheckMs);
  t.mock.timers.reset();
  await new Promise(setImmediate);
  assert.deepEqual([reads, await statusOf(run)], [1, "running"]);
});

test("a revocation is seen in whichever turn it comes after a look", async (t) => {
  const { tokens, runs, start, endOf } = await stage(t);
  for (let turns = 0; turns < 12; turns += 1) {
    const { tokenId, owner } = await tokens.create({ owner: `o${turns}` });
    const run = await start(owner, tokenId);
    const row = (await tokens.list({ limit: 100 })).find((one) => one.tokenId === tokenId) ?? assert.fail();
    let wake = (): void => undefined;
    let listed = 0;
    /** Revokes the token so many turns after the first look has begun. */
    const revokeLater = async (): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      wake();
    };
    const revoked = new RevokedRuns({
      runs,
      log: () => undefined,
      tokens: {
        watch: (changed) => {
          wake = changed;
          return () => undefined;
        },
        list: async () => {
          listed += 1;
          if (listed === 1) void revokeLater();
          return listed === 1 ? [] : [{ ...row, revoked: true }];
        },
      },
    });
    await revoked.start();
    assert.equal((await endOf(run)).type, "run.aborted", `after ${turns} turns`);
    await revoked.close();
  }
});
