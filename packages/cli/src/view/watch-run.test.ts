import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { Fault, isTerminal } from "@vidro/core";
import type { Entry, Event, QuestionAsked, RunHead } from "@vidro/core";
import type { RunStreamItem } from "@vidro/client";
import type { BrainRuns, RunRole } from "../brain-api/brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { isRunWatched } from "./interrupts.ts";
import { absentAnswerer, yesAnswerer } from "./questions.ts";
import type { Answerer } from "./questions.ts";
import type { Screen } from "./screen.ts";
import { watchRun } from "./watch-run.ts";

/** A brain with one run, whose journal the test writes. */
class OneRun {
  readonly journal: Entry[] = [];
  readonly calls: string[] = [];
  /** What this process is to the run, by the times that it asked. */
  roles: readonly RunRole[] = ["driver"];
  #joined = 0;
  #grown = Promise.withResolvers<void>();

  append(...events: readonly Event[]): void {
    for (const event of events) this.journal.push({ seq: this.journal.length + 1, at: 0, event });
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
  }

  get runs(): BrainRuns {
    const find = async (): Promise<RunHead> => {
      // A remark leaves the question open.
      const last = this.journal.findLast(({ event }) => event.type !== "remark.made")?.event;
      const status =
        last === undefined || !isTerminal(last) ? (last?.type === "question.asked" ? "asking" : "running") : "finished";
      return { id: "run_1", seq: this.journal.length, status } as unknown as RunHead;
    };
    const known: Partial<BrainRuns> = {
      join: async () => this.roles[Math.min((this.#joined += 1), this.roles.length) - 1]!,
      follow: (_, after, signal) => this.#follow(after, signal),
      entries: (_, last = Infinity) => each(this.journal.slice(0, last)),
      find,
      answer: async (_, { text, by, question }) => void this.calls.push(`answer ${question}: ${text} by ${by}`),
      abort: async (_, reason) => {
        this.calls.push(`abort ${reason}`);
        this.append({ type: "run.aborted", reason });
      },
      detach: async () => void this.calls.push("detach"),
      obstacle: async () => undefined,
    };
    return known as BrainRuns;
  }

  async *#follow(after: number, signal: AbortSignal): AsyncGenerator<RunStreamItem> {
    const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    for (let at = after; !signal.aborted;) {
      const entry = this.journal[at];
      if (entry === undefined) await Promise.race([this.#grown.promise, gone]);
      else {
        at += 1;
        yield { entry };
        if (isTerminal(entry.event)) return;
      }
    }
  }
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Watches a run and keeps what the screen was told. */
function watch(t: TestContext, run: OneRun, { after = 0, answerer = absentAnswerer } = {}) {
  const told: string[] = [];
  const err: string[] = [];
  const { mock } = t.mock.method(process.stderr, "write", (text: string | Uint8Array) => err.push(String(text)) > 0);
  const quiet = (): void => undefined;
  const screen: Screen = {
    entry: ({ seq, event }) => void told.push(`${seq} ${event.type}`),
    recall: ({ seq }) => void told.push(`recall ${seq}`),
    remind: ({ id }) => void told.push(`remind ${id}`),
    live: ({ type }) => void told.push(`live ${type}`),
    notice: (words) => void told.push(words),
    redraw: quiet,
    goOn: quiet,
    releaseTerminal: quiet,
    close: () => void (told.at(-1) === "closed" || told.push("closed")),
  };
  const code = watchRun({ runs: run.runs, run: "run_1", after, screen, answerer, screenOf: async () => screen });
  const over = code.finally(() => mock.restore());
  return { told, over, said: () => err.join("") };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
};
const started = { type: "run.started", hand: "local", task: "x" } as unknown as Event;
const finished = { type: "run.finished", result: "ok" } as Event;
const asked = (id: string): QuestionAsked => ({
  type: "question.asked",
  id,
  about: { kind: "unknown" } as never,
  text: "?",
  options: ["retry", "stop"],
  expiresAt: 0,
});
const answered = (id: string): Event => ({ type: "question.answered", id, answer: "stop", by: "me" });
const note = { type: "note.observed", note: "n" } as Event;

describe("a run that is watched", () => {
  test("is shown entry by entry to its end, which gives the exit code, and no signal is heard afterwards", async (t) => {
    const run = new OneRun();
    run.append(started, note);
    const { told, over } = watch(t, run);
    await turns();
    assert.equal(isRunWatched(), true);
    run.append(finished);
    assert.equal(await over, EXIT.ok);
    assert.deepEqual(told, ["1 run.started", "2 note.observed", "3 run.finished", "closed"]);
    assert.equal(isRunWatched(), false);
  });

  test("that is over is only recalled, and has the same exit code", async (t) => {
    const run = new OneRun();
    run.append(started, { type: "run.failed", fault: { code: "STEP_LIMIT", message: "Too many." } });
    const { told, over, said } = watch(t, run, { after: 99 });
    assert.notEqual(await over, EXIT.ok);
    assert.deepEqual(told, ["recall 1", "recall 2", "closed"]);
    assert.match(said(), /Too many\./);
  });

  test("is recalled up to a cursor and shown from there on, nothing twice and nothing left out", async (t) => {
    for (let after = 0; after <= 3; after += 1) {
      const run = new OneRun();
      run.append(started, note, note);
      const { told, over } = watch(t, run, { after });
      await turns();
      run.append(finished);
      assert.equal(await over, EXIT.ok);
      const seen = told.map((line) => Number(/\d+/.exec(line)?.[0])).filter((seq) => !Number.isNaN(seq));
      assert.deepEqual(seen, [1, 2, 3, 4]);
      assert.equal(told.filter((line) => line.startsWith("recall")).length, after);
    }
  });

  test("that a dead process drove is driven on without an entry shown twice", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const run = new OneRun();
    run.roles = ["onlooker", "driver"];
    run.append(started);
    const { told, over } = watch(t, run);
    await turns();
    t.mock.timers.tick(1000);
    await turns();
    run.append(note, finished);
    assert.equal(await over, EXIT.ok);
    assert.deepEqual(told, ["1 run.started", "2 note.observed", "3 run.finished", "closed"]);
  });

  test("that cannot be joined is a fault with its exit code, and says how to come back to it", async (t) => {
    const run = new OneRun();
    run.append(started);
    const broken: BrainRuns = {
      ...run.runs,
      join: async () => Promise.reject(new Fault("BRAIN_UNREACHABLE", "Gone.")),
    };
    const screen = { recall: () => undefined, close: () => undefined } as unknown as Screen;
    const err: string[] = [];
    const { mock } = t.mock.method(process.stderr, "write", (text: string) => err.push(text) > 0);
    const watching = { runs: broken, run: "run_1", after: 1, screen, answerer: absentAnswerer };
    assert.equal(await watchRun({ ...watching, screenOf: async () => screen }), 7);
    mock.restore();
    const lines = err.join("").trimEnd().split("\n");
    assert.equal(lines.at(-1), "  the run is left as it is: vidro attach run_1");
    assert.match(lines.at(-2) ?? "", /^ {2}next: \S/);
  });
});

describe("a question", () => {
  test("is answered once by who drives the run", async (t) => {
    const run = new OneRun();
    run.append(started, asked("q1"));
    const { over } = watch(t, run, { answerer: yesAnswerer });
    await turns();
    assert.deepEqual(run.calls, ["answer q1: retry by --yes"]);
    run.append(answered("q1"), finished);
    assert.equal(await over, EXIT.ok);
  });

  test("that was answered before is shown and not answered again", async (t) => {
    const run = new OneRun();
    run.append(started, asked("q1"), answered("q1"), finished);
    const { told, over } = watch(t, run, { answerer: yesAnswerer });
    assert.equal(await over, EXIT.ok);
    assert.deepEqual(run.calls, []);
    assert.ok(told.includes("2 question.asked"));
  });

  test("that lies at the cursor is shown again and answered", async (t) => {
    const run = new OneRun();
    run.append(started, asked("q1"));
    const { told, over } = watch(t, run, { after: 2, answerer: yesAnswerer });
    await turns();
    assert.deepEqual([told.includes("remind q1"), run.calls], [true, ["answer q1: retry by --yes"]]);
    run.append(answered("q1"), finished);
    await over;
  });

  test("with remarks behind it is still open; with anything else it is not", async (t) => {
    for (const [behind, isOpen] of [
      [{ type: "remark.made", id: "1", text: "x", by: "me" }, true],
      [answered("q1"), false],
    ] as const) {
      const run = new OneRun();
      run.append(started, asked("q1"));
      const { over } = watch(t, run, { answerer: yesAnswerer });
      run.append(behind);
      await turns();
      assert.equal(run.calls.length, Number(isOpen), behind.type);
      run.append(finished);
      await over;
    }
  });

  test("is not answered by an onlooker, nor by a partner without a person; each is told where", async (t) => {
    for (const [role, words] of [
      ["onlooker", /Another process drives this run: it is asked there\./],
      ["partner", /waits for an answer: give it on a terminal with vidro attach\./],
    ] as const) {
      const run = new OneRun();
      run.roles = [role];
      run.append(started, asked("q1"));
      const { over, said } = watch(t, run);
      await turns();
      assert.deepEqual(run.calls, []);
      assert.match(said(), words);
      run.append(answered("q1"), finished);
      await over;
    }
  });

  test("that another client answers first closes the one that is asked here", async (t) => {
    const run = new OneRun();
    run.append(started, asked("q1"));
    const signals: AbortSignal[] = [];
    const answerer: Answerer = {
      ready: async () => undefined,
      answer: (_, signal) =>
        new Promise((_resolve, reject) => {
          signals.push(signal);
          signal.addEventListener("abort", () => reject(new Fault("CONFLICT", "closed")));
        }),
    };
    const { over } = watch(t, run, { answerer });
    await turns();
    run.append(answered("q1"));
    await turns();
    assert.equal(signals[0]?.aborted, true);
    run.append(asked("q2"));
    await turns();
    assert.equal(signals.length, 2);
    run.append(answered("q2"), finished);
    assert.equal(await over, EXIT.ok);
    assert.deepEqual(run.calls, []);
  });

  test("whose answer the brain refuses for another reason than that it is closed ends the watching", async (t) => {
    const run = new OneRun();
    run.append(started, asked("q1"));
    const answerer: Answerer = {
      ready: async () => undefined,
      answer: async () => Promise.reject(new Fault("INVALID_TOKEN", "Revoked.")),
    };
    const { over, said } = watch(t, run, { answerer });
    assert.equal(await over, 4);
    assert.match(said(), /Revoked\./);
  });
});

describe("Ctrl-C", () => {
  test("once aborts a run that this process drives, and waits for its end", async (t) => {
    const run = new OneRun();
    run.append(started);
    const { told, over, said } = watch(t, run);
    await turns();
    process.emit("SIGINT");
    assert.equal(await over, EXIT.aborted);
    assert.deepEqual(run.calls, ["abort Ctrl-C"]);
    assert.ok(told.includes("2 run.aborted"));
    assert.match(said(), /Ctrl-C again leaves it open instead\./);
  });

  test("twice leaves a run that does not end open, and says how to come back", async (t) => {
    const run = new OneRun();
    run.append(started);
    t.mock.method(run, "append", () => undefined);
    const { over, said } = watch(t, run);
    await turns();
    process.emit("SIGINT");
    process.emit("SIGINT");
    assert.equal(await over, EXIT.aborted);
    assert.deepEqual(run.calls, ["abort Ctrl-C", "detach"]);
    assert.match(said(), /the run is left open \(Ctrl-C twice\)\.\n {2}next: vidro attach run_1/);
  });

  test("at a run that others drive leaves it at once, and aborts nothing", async (t) => {
    for (const [role, because] of [
      ["partner", "the brain goes on with it"],
      ["onlooker", "another process drives it and goes on"],
    ] as const) {
      const run = new OneRun();
      run.roles = [role];
      run.append(started);
      const { over, said } = watch(t, run);
      await turns();
      process.emit("SIGINT");
      assert.equal(await over, EXIT.aborted);
      assert.deepEqual(run.calls, ["detach"]);
      assert.ok(said().includes(because), said());
    }
  });

  test("that meets the end of the run is no failure", async (t) => {
    const run = new OneRun();
    run.append(started);
    const runs: BrainRuns = { ...run.runs, abort: async () => Promise.reject(new Fault("CONFLICT", "It is over.")) };
    Object.defineProperty(run, "runs", { value: runs });
    const { over } = watch(t, run);
    await turns();
    process.emit("SIGINT");
    run.append(finished);
    assert.equal(await over, EXIT.ok);
  });
});

test("a signal to end and a terminal that is gone leave the run open, each with its code", async (t) => {
  for (const [signal, exit] of [
    ["SIGTERM", EXIT.terminated],
    ["SIGHUP", EXIT.hungUp],
  ] as const) {
    const run = new OneRun();
    run.append(started);
    const { over, said } = watch(t, run);
    await turns();
    process.emit(signal);
    assert.equal(await over, exit);
    assert.deepEqual(run.calls, ["detach"]);
    assert.match(said(), /the run is left open/);
  }
});
