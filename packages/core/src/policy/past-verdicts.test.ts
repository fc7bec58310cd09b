import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Entry, Event } from "../event.ts";
import { REVIEW_LIMITS } from "../limits.ts";
import type { RunHead } from "../ports.ts";
import type { Plan, Verdict } from "../tool.ts";
import { changedVerdicts } from "./past-verdicts.ts";
import type { PastRuns, PastTally } from "./past-verdicts.ts";

const verdict = (decision: Verdict["decision"], rule = "r"): Verdict => ({ decision, rule, class: "read", reason: "" });
const read = (path: string): Plan => ({ kind: "file", operation: "read", path, inWorkspace: true });
const program: Plan = {
  kind: "process",
  program: "/bin/ls",
  argv: ["ls"],
  cwd: "/",
  env: {},
  timeoutMs: 1,
  digests: {},
};
const judged = (plan: Plan, was: Verdict): Event => ({
  type: "policy.judged",
  action: "act_1",
  plan,
  hash: "",
  policy: "",
  verdict: was,
});
const started = (hand = "local", workspace = "/srv/work"): Event =>
  ({ type: "run.started", hand, workspace }) as unknown as Event;
const finished: Event = { type: "run.finished", result: null };

/** Runs with these events, newest first, in a store that pages as stores do. */
function runsOf(events: { readonly [run: string]: readonly Event[] }, damaged: readonly string[] = []) {
  const ids = Object.keys(events);
  const asked: { limit: number; after?: string }[] = [];
  const runs: PastRuns = {
    list: (filter) => {
      asked.push(filter);
      const from = filter.after === undefined ? 0 : ids.indexOf(filter.after) + 1;
      const heads = ids.slice(from, from + filter.limit);
      return Promise.resolve(
        heads.map((id) => ({ id, ...(damaged.includes(id) ? { damaged: "lost" } : {}) }) as unknown as RunHead),
      );
    },
    async *entries(run): AsyncGenerator<Entry> {
      assert.equal(damaged.includes(run), false, "a damaged run is not read");
      await Promise.resolve();
      for (const [at, event] of (events[run] ?? []).entries()) yield { seq: at + 1, at: 0, event };
    },
  };
  return { runs, asked };
}

async function review(
  runs: PastRuns,
  judge: (plan: Plan) => Verdict,
  { limit = 1000, gone = [] as readonly string[] } = {},
) {
  const tally: PastTally = { judged: 0, elsewhere: 0, homeless: 0 };
  const policyAt = (workspace: string) => (gone.includes(workspace) ? undefined : { judge });
  const changed = await Array.fromAsync(changedVerdicts(runs, { policyAt, tally, limit }));
  return { tally, changed };
}

describe("what a policy says today of past actions", () => {
  it("is told only where the decision differs: another rule or reason is no change", async () => {
    const { runs } = runsOf({
      a: [started(), judged(read("/a"), verdict("ask")), judged(read("/b"), verdict("allow", "old")), finished],
    });
    const { changed, tally } = await review(runs, () => verdict("allow", "new"));
    assert.deepEqual(changed, [
      { run: "a", seq: 2, plan: read("/a"), was: verdict("ask"), now: verdict("allow", "new") },
    ]);
    assert.deepEqual(tally, { judged: 2, elsewhere: 0, homeless: 0 });
  });

  it("counts actions of other hosts and of folders that are gone, and judges neither", async () => {
    const { runs } = runsOf({
      a: [started("web"), judged(read("/a"), verdict("ask"))],
      b: [started("local", "/srv/gone"), judged(read("/a"), verdict("ask")), judged(read("/b"), verdict("ask"))],
      c: [started(), judged(read("/a"), verdict("ask"))],
    });
    const { tally, changed } = await review(runs, () => verdict("ask"), { gone: ["/srv/gone"] });
    assert.deepEqual(tally, { judged: 1, elsewhere: 1, homeless: 2 });
    assert.deepEqual(changed, []);
  });

  it("leaves out orders of tools that no policy foresees, and what stands behind the end of a run", async () => {
    const order: Plan = { kind: "order", tool: "t", input: {} };
    const { runs } = runsOf({
      a: [started(), judged(order, verdict("ask")), finished, judged(read("/a"), verdict("ask"))],
    });
    const { tally } = await review(runs, () => verdict("deny"));
    assert.deepEqual(tally, { judged: 0, elsewhere: 0, homeless: 0 });
  });

  it("passes over a run that cannot be read, and goes on with the next", async () => {
    const events = [started(), judged(read("/a"), verdict("ask"))];
    const { runs } = runsOf({ a: events, b: events, c: events }, ["b"]);
    const { changed } = await review(runs, () => verdict("deny"));
    assert.deepEqual(
      changed.map(({ run }) => run),
      ["a", "c"],
    );
  });

  it("takes a program as its hand would hold it, and as it is where that does not allow it", async () => {
    const { runs } = runsOf({ a: [started(), judged(program, verdict("ask")), judged(program, verdict("deny"))] });
    const isHeld = (plan: Plan): boolean => plan.kind === "process" && plan.confined === "files";
    const allowed = await review(runs, (plan) => verdict(isHeld(plan) ? "allow" : "ask"));
    assert.deepEqual(
      allowed.changed.map(({ now }) => now.decision),
      ["allow", "allow"],
    );
    const asked = await review(runs, (plan) => verdict(isHeld(plan) ? "deny" : "ask"));
    assert.deepEqual(
      asked.changed.map(({ seq, now }) => [seq, now.decision]),
      [[3, "ask"]],
    );
  });

  it("reads no more runs than asked for, page by page, and stops behind the last one", async () => {
    const all = Object.fromEntries(
      Array.from({ length: REVIEW_LIMITS.pageRuns + 5 }, (_, at) => [`r${at}`, [started()]]),
    );
    const first = runsOf(all);
    await review(first.runs, () => verdict("ask"), { limit: 3 });
    assert.deepEqual(first.asked, [{ limit: 3 }]);
    const second = runsOf(all);
    await review(second.runs, () => verdict("ask"), { limit: REVIEW_LIMITS.pageRuns * 3 });
    assert.deepEqual(second.asked, [
      { limit: REVIEW_LIMITS.pageRuns },
      { limit: REVIEW_LIMITS.pageRuns, after: `r${REVIEW_LIMITS.pageRuns - 1}` },
    ]);
    const none = runsOf({});
    assert.deepEqual((await review(none.runs, () => verdict("ask"))).changed, []);
    assert.equal((await review(first.runs, () => verdict("ask"), { limit: 0 })).tally.judged, 0);
  });
});
