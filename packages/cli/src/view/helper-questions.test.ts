import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DELEGATE, Fault, isTerminal } from "@vidro/core";
import type { Entry, Event, QuestionAsked, RunHead } from "@vidro/core";
import type { RunStreamItem } from "@vidro/client";
import { HelperQuestions, withShortIds } from "./helper-questions.ts";
import type { Answerer } from "./questions.ts";
import type { Screen } from "./screen.ts";

/** Runs whose journals the test writes; one that has no entry yet is NOT_FOUND. */
class Journals {
  readonly #all = new Map<string, Entry[]>();
  readonly answers: string[] = [];
  #grown = Promise.withResolvers<void>();

  append(run: string, ...events: readonly Event[]): void {
    const entries = this.#all.get(run) ?? [];
    for (const event of events) entries.push({ seq: entries.length + 1, at: 0, event });
    this.#all.set(run, entries);
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
  }

  #entries(run: string): readonly Entry[] {
    const found = this.#all.get(run);
    if (found === undefined) throw new Fault("NOT_FOUND", `There is no run ${run}.`);
    return found;
  }

  find = async (run: string): Promise<RunHead> => {
    const entries = this.#entries(run);
    const last = entries.findLast(({ event }) => event.type !== "remark.made")?.event;
    return {
      id: run,
      seq: entries.length,
      status: last?.type === "question.asked" ? "asking" : "running",
    } as unknown as RunHead;
  };

  entries = async function* (this: Journals, run: string): AsyncGenerator<Entry> {
    yield* this.#entries(run);
  }.bind(this);

  follow = async function* (
    this: Journals,
    run: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<RunStreamItem> {
    const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    for (let at = after; !signal.aborted;) {
      const entry = this.#entries(run)[at];
      if (entry === undefined) await Promise.race([this.#grown.promise, gone]);
      else {
        at += 1;
        yield { entry };
        if (isTerminal(entry.event)) return;
      }
    }
  }.bind(this);

  always = async () => Promise.reject(new Fault("CONFLICT", "none"));
  answer = async (
    run: string,
    { text, question }: { readonly text: string; readonly question: string },
  ): Promise<void> => {
    this.answers.push(`${run} ${question}: ${text}`);
    this.append(run, { type: "question.answered", id: question, answer: text, by: "me" });
  };
}

const asked = (id: string): QuestionAsked =>
  ({
    type: "question.asked",
    id,
    about: { kind: "ask" },
    text: "?",
    options: [],
    expiresAt: 0,
  }) as unknown as QuestionAsked;
const remark: Event = { type: "remark.made", id: "1", text: "hurry", by: "me" };
const naming = (...runs: readonly string[]): Event =>
  ({ type: "policy.judged", action: "a", plan: { kind: "order", runs }, verdict: {} }) as unknown as Event;
const begun = {
  type: "action.started",
  action: { id: "a", tool: DELEGATE, input: {} },
  hand: "local",
} as unknown as Event;
const over = { type: "action.finished", action: "a", outcome: { kind: "value", text: "" } } as Event;

/** The helpers of a run that is watched, with a person who answers when the test says so. */
function watch(answers = true) {
  const journals = new Journals();
  const told: string[] = [];
  const waiting: { readonly id: string; readonly reply: (text: string) => void; readonly signal: AbortSignal }[] = [];
  const answerer: Answerer = {
    ready: async () => undefined,
    answer: ({ id }, signal) =>
      new Promise((resolve, reject) => {
        waiting.push({ id, signal, reply: (text) => resolve({ text, by: "me" }) });
        signal.addEventListener("abort", () => reject(new Fault("CONFLICT", "closed")));
      }),
  };
  const screen = {
    notice: (words: string) => told.push(words),
    releaseTerminal: () => undefined,
    goOn: () => told.push("goes on"),
  };
  const screenOf = async (run: string): Promise<Screen> =>
    ({
      entry: ({ event }: Entry) => told.push(`${run} shows ${event.type}`),
      recall: () => undefined,
    }) as unknown as Screen;
  const helpers = new HelperQuestions({ runs: journals, screen, answerer, screenOf }, () => answers);
  return { journals, told, waiting, helpers };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 6; turn += 1) await new Promise(setImmediate);
};

describe("a question of a helper", () => {
  const delegate = (answers = true) => {
    const watched = watch(answers);
    watched.helpers.take(naming("run_helper"));
    watched.helpers.take(begun);
    watched.helpers.open();
    return watched;
  };

  test("is asked where its parent is watched, and its answer goes to the helper", async () => {
    const { journals, told, waiting, helpers } = delegate();
    journals.append("run_helper", asked("q1"));
    // A helper is named before it exists, and is looked for again after a rest.
    while (waiting.length === 0) await turns();
    waiting[0]!.reply("blue");
    await turns();
    assert.deepEqual(journals.answers, ["run_helper q1: blue"]);
    assert.deepEqual(told, ["helper n_helper asks:", "run_helper shows question.asked", "goes on"]);
    helpers.end();
  });

  test("stays open when a remark is made to the helper, before it is asked or while it is", async () => {
    for (const isBefore of [true, false]) {
      const { journals, waiting, helpers } = delegate();
      journals.append("run_helper", asked("q1"), ...(isBefore ? [remark] : []));
      while (waiting.length === 0) await turns();
      if (!isBefore) journals.append("run_helper", remark);
      await turns();
      assert.equal(waiting[0]?.signal.aborted, false);
      waiting[0].reply("blue");
      await turns();
      assert.deepEqual(journals.answers, ["run_helper q1: blue"]);
      helpers.end();
    }
  });

  test("that another client answers first is closed here, and the next one is asked", async () => {
    const { journals, waiting, helpers } = delegate();
    journals.append("run_helper", asked("q1"));
    while (waiting.length === 0) await turns();
    journals.append("run_helper", { type: "question.answered", id: "q1", answer: "x", by: "other" }, asked("q2"));
    while (waiting.length < 2) await turns();
    assert.deepEqual(
      waiting.map(({ id, signal }) => [id, signal.aborted]),
      [
        ["q1", true],
        ["q2", false],
      ],
    );
    helpers.end();
    assert.equal(waiting[1]?.signal.aborted, true, "the end of the action closes what is asked");
  });

  test("that was answered before it is looked at is not asked", async () => {
    const { journals, waiting, told, helpers } = delegate();
    journals.append("run_helper", asked("q1"), { type: "question.answered", id: "q1", answer: "x", by: "other" });
    journals.append("run_helper", { type: "run.finished", result: "" });
    await turns();
    assert.deepEqual([waiting.length, told], [0, []]);
    helpers.end();
  });

  test("is left alone where questions are not answered here", async () => {
    const { journals, waiting, helpers } = delegate(false);
    journals.append("run_helper", asked("q1"));
    await turns();
    assert.equal(waiting.length, 0);
    helpers.end();
  });

  test("waits for its turn while another is asked, and helpers of helpers are asked, too", async () => {
    const { journals, waiting, helpers } = watch();
    helpers.take(naming("run_one", "run_two"));
    helpers.take(begun);
    journals.append("run_one", asked("q1"));
    journals.append("run_two", naming("run_below"));
    journals.append("run_below", asked("q2"));
    helpers.open();
    while (waiting.length === 0) await turns();
    await turns();
    assert.equal(waiting.length, 1, "one at a time: a person has one keyboard");
    waiting[0]!.reply("a");
    while (waiting.length < 2) await turns();
    waiting[1]!.reply("b");
    await turns();
    assert.deepEqual(
      journals.answers.toSorted((a, b) => a.localeCompare(b)),
      ["run_below q2: b", "run_one q1: a"],
    );
    helpers.take(over);
  });
});

test("helpers are followed only while their action is under way, and only those of a delegation", async () => {
  const { journals, waiting, helpers } = watch();
  journals.append("run_helper", asked("q1"));
  helpers.take(naming("run_helper"));
  helpers.open();
  await turns();
  assert.equal(waiting.length, 0, "named, and not yet begun");
  helpers.take({ ...begun, action: { id: "a", tool: "shell", input: {} } } as unknown as Event);
  helpers.open();
  helpers.take(over);
  helpers.take(begun);
  helpers.open();
  await turns();
  assert.equal(waiting.length, 0, "forgotten with the action that named it");
});

test("lines that tell of helpers have the last characters of their ids, as lists of runs do", () => {
  const id = "run_01980000-0000-7000-8000-0000abcd1234";
  assert.equal(withShortIds(`${id}: looks\n${id}: done`), "abcd1234: looks\nabcd1234: done");
  for (const text of [`see ${id}: x`, "run_short: x", `${id} x`]) assert.equal(withShortIds(text), text);
});
