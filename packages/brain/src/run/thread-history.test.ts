import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, RUN_LIMITS } from "@vidro/core";
import type { Entry, Event, Journal, RunStarted, Turn } from "@vidro/core";
import { startedEvent } from "../stores/journal.fixture.ts";
import { thisHolder } from "../stores/lease-holder.ts";
import { memoryStore } from "../stores/memory.ts";
import { readState } from "./read-state.ts";
import { withEarlier } from "./thread-history.ts";

const replied = (text: string): Event => ({
  type: "model.replied",
  model: "m",
  text,
  usage: { inputTokens: 1, outputTokens: 1 },
  answer: text,
});

const start = (task: string, more: Partial<RunStarted> = {}): RunStarted =>
  ({ ...startedEvent(task), thread: "t", ...more }) as RunStarted;

/** A journal with ended runs of one thread, at a clock of its own. */
function thread() {
  const clock = { now: 1000 };
  const { journal } = memoryStore({ now: () => clock.now });
  const begin = async (id: string, started: RunStarted) => {
    clock.now += 1000;
    const run = { id, owner: "ana", thread: started.thread };
    const { lease } = await journal.create(run, [{ seq: 1, at: clock.now, event: started }], thisHolder());
    return lease ?? assert.fail();
  };
  const append = async (lease: Awaited<ReturnType<typeof begin>>, from: number, ...events: readonly Event[]) => {
    clock.now += 1000;
    const entries = events.map((event, at): Entry => ({ seq: from + at, at: clock.now, event }));
    await journal.append(lease, entries);
  };
  /** A run that was asked something and answered it. */
  const answered = async (id: string, task: string, answer: string, more: Partial<RunStarted> = {}) => {
    const lease = await begin(id, start(task, more));
    const call: Event = { type: "model.called", step: 1, attempt: 1 };
    await append(lease, 2, call, replied(answer), { type: "run.finished", result: answer });
  };
  return { clock, journal, begin, append, answered };
}

const texts = ({ history }: RunStarted): readonly string[] => history.map(({ text }) => text);

test("a run of a thread knows what was asked and answered before it, in order", async () => {
  const { journal, answered } = thread();
  await answered("run_1", "one?", "1");
  const second = await withEarlier(journal, start("two?"), { thread: "t" });
  assert.deepEqual(texts(second), ["one?", "1"]);
  await answered("run_2", "two?", "2", { history: second.history });
  assert.deepEqual(texts(await withEarlier(journal, start("three?"), { thread: "t" })), ["one?", "1", "two?", "2"]);
  assert.deepEqual(
    (await withEarlier(journal, start("three?"), { thread: "t" })).history.map(({ role }) => role),
    ["user", "assistant", "user", "assistant"],
  );
});

test("a new thread and another thread know nothing of it, and a caller that keeps the conversation is left alone", async () => {
  const { journal, answered } = thread();
  await answered("run_1", "one?", "1");
  assert.deepEqual(texts(await withEarlier(journal, start("x", { thread: "u" }), { thread: "u" })), []);
  assert.deepEqual(texts(await withEarlier(journal, start("x"), {})), []);
  const own: readonly Turn[] = [{ role: "user", text: "mine" }];
  const kept = await withEarlier(journal, start("x", { history: own }), { thread: "t", history: own });
  assert.deepEqual(texts(kept), ["mine"]);
});

test("turns that a caller added come last, and those that the thread has are not said twice", async () => {
  const { journal, answered } = thread();
  await answered("run_1", "one?", "1");
  const added: readonly Turn[] = [
    { role: "user", text: "one?" },
    { role: "user", text: "by the way" },
  ];
  assert.deepEqual(texts(await withEarlier(journal, start("two?"), { thread: "t", added })), [
    "one?",
    "1",
    "by the way",
  ]);
});

test("runs that ended beside the last one are known, too, and one that is open is not", async () => {
  const { journal, begin, append, answered } = thread();
  await answered("run_1", "one?", "1");
  const long = await begin("run_long", start("long?"));
  const open = await begin("run_open", start("open?"));
  await answered("run_2", "two?", "2");
  await append(long, 2, { type: "model.called", step: 1, attempt: 1 }, replied("L"), {
    type: "run.finished",
    result: "L",
  });
  const known = texts(await withEarlier(journal, start("next?"), { thread: "t" }));
  for (const word of ["two?", "2", "long?", "L"]) assert.ok(known.includes(word), `${word} in ${known.join()}`);
  assert.ok(!known.includes("open?"));
  await append(open, 2, { type: "run.aborted", reason: "stopped" });
});

test("a run whose journal is damaged is left out, and the thread goes on with those before it", async () => {
  const { journal, answered } = thread();
  await answered("run_1", "one?", "1");
  await answered("run_2", "two?", "2");
  const torn: Journal = new Proxy(journal, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (name !== "read") return typeof found === "function" ? (found as () => unknown).bind(target) : found;
      return (run: string, after: number, limit: number) =>
        run === "run_2" ? Promise.reject(new Fault("JOURNAL_CORRUPT", "torn")) : target.read(run, after, limit);
    },
  });
  assert.deepEqual(texts(await withEarlier(torn, start("three?"), { thread: "t" })), ["one?", "1"]);
});

test("a failed and an aborted run are part of the conversation", async () => {
  const { journal, begin, append } = thread();
  const failed = await begin("run_f", start("fail?"));
  await append(failed, 2, { type: "run.failed", fault: { code: "MODEL_UNAVAILABLE", message: "It is down." } });
  const known = await withEarlier(journal, start("again?"), { thread: "t" });
  assert.equal(known.history[0]?.text, "fail?");
  assert.match(known.history.at(-1)?.text ?? "", /down|failed|MODEL_UNAVAILABLE/i);
});

test("a run that goes on from one of another thread has its turns, and not those of its own thread", async () => {
  const { journal, answered } = thread();
  await answered("run_1", "one?", "1");
  await answered("run_u", "elsewhere?", "there", { thread: "u" });
  const head = (await journal.head("run_u")) ?? assert.fail();
  assert.deepEqual(texts(await withEarlier(journal, start("x"), { thread: "t", followsRun: head })), [
    "elsewhere?",
    "there",
  ]);
});

test("the facts of the run before stay at the beginning, and what differs now is told beside them", async () => {
  const { journal, answered } = thread();
  const facts = { system: "Linux 6", shell: "bash", date: "2026-11-18" };
  await answered("run_1", "one?", "1", { facts });
  const next = await withEarlier(journal, start("two?", { facts: { ...facts, date: "2026-11-19" } }), { thread: "t" });
  assert.deepEqual([next.facts, next.changed], [facts, { date: "2026-11-19" }]);
  const same = await withEarlier(journal, start("two?", { facts }), { thread: "t" });
  assert.equal(same.changed, undefined);
  const elsewhere = await withEarlier(
    journal,
    start("two?", { facts: { system: "Darwin", date: "2026-11-20" }, workspace: "/other" }),
    {
      thread: "t",
    },
  );
  assert.deepEqual([elsewhere.facts, elsewhere.changed], [{ system: "Darwin", date: "2026-11-20" }, undefined]);
});

test("a thread of very many runs is read within its bound, and each new run knows the last one", async () => {
  const { journal, answered } = thread();
  let history: readonly Turn[] = [];
  for (let count = 0; count < 3 * RUN_LIMITS.historyRuns; count += 1) {
    await answered(`run_${count}`, `task ${count}`, `answer ${count}`, { history });
    ({ history } = await withEarlier(journal, start("next"), { thread: "t" }));
    assert.deepEqual(
      history.slice(-2).map(({ text }) => text),
      [`task ${count}`, `answer ${count}`],
    );
  }
  assert.equal(history[0]?.text, "task 0", "short turns are all kept");
});

test("the state of a run is the fold of its whole journal, and rubbish in it is JOURNAL_CORRUPT", async () => {
  const { journal, answered } = thread();
  await answered("run_1", "one?", "1");
  assert.equal((await readState(journal, "run_1")).phase.name, "ended");
  const reading = (entries: readonly Entry[]): Journal =>
    ({ read: async (_: string, after: number) => entries.slice(after) }) as unknown as Journal;
  await assert.rejects(readState(reading([]), "run_x"), { code: "JOURNAL_CORRUPT", message: /has no entries/ });
  const lacking = { seq: 2, at: 2, event: { type: "action.started" } } as unknown as Entry;
  await assert.rejects(readState(reading([{ seq: 1, at: 1, event: start("x") }, lacking]), "run_x"), {
    code: "JOURNAL_CORRUPT",
  });
  const failing = { read: () => Promise.reject(new Fault("STORE_BUSY")) } as unknown as Journal;
  await assert.rejects(readState(failing, "run_x"), { code: "STORE_BUSY" });
});
