import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import OpenAI from "openai";
import type { JsonObject } from "@vidro/core";
import { up } from "../packages/cli/src/daemon.fixture.ts";
import type { RunningDaemon } from "../packages/cli/src/daemon.fixture.ts";
import { Stage } from "../packages/cli/src/stage.fixture.ts";
import { processesIn } from "./support/processes.ts";
import { AGENT_SSE, JOURNAL_NDJSON, JOURNAL_SSE } from "./support/resumable-wires.ts";
import type { JournalItem, ResumableWire } from "./support/resumable-wires.ts";

/*
 * The promise, tried on a real daemon: one run is watched over four wires at once, the daemon is killed with SIGKILL
 * in the middle of it and started again on the same home and port, and every follower goes on where it was.
 */

const EFFECTS = 4;
/** Where the daemon dies: when the second event of this type has been seen, one round for each. */
const DEATHS = ["model.replied", "policy.judged", "question.asked", "action.started", "action.finished"] as const;
const NTH = 2;
const ENDS: readonly unknown[] = ["run.finished", "run.failed", "run.aborted", "done", "error"];

/** A daemon that is killed once; its clients can wait for its next start. */
class Mortal implements AsyncDisposable {
  readonly #stage: Stage;
  #life: RunningDaemon;
  #reborn = Promise.withResolvers<void>();

  constructor(stage: Stage, life: RunningDaemon) {
    this.#stage = stage;
    this.#life = life;
  }

  get url(): string {
    return this.#life.url;
  }

  get token(): string {
    return this.#life.token;
  }

  /** Resolves when it is up again after its death. */
  get reborn(): Promise<void> {
    return this.#reborn.promise;
  }

  async dieAndRise(): Promise<void> {
    const rise = async (): Promise<void> => {
      await this.#life.kill();
      this.#life = await up(this.#stage, this.#life.port);
    };
    const rising = rise();
    this.#reborn.resolve(rising);
    await rising;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#life.kill();
  }

  ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.token}`);
    if (init.body !== undefined) headers.set("content-type", "application/json");
    return fetch(this.url + path, { ...init, headers });
  }
}

/** What one follower got, by its connections. */
type Parts = readonly (readonly JournalItem[])[];

const isEnd = (item: JournalItem): boolean => ENDS.includes(typeOf(item) ?? item["type"]);

function typeOf(item: JournalItem): unknown {
  return eventOf(item)["type"];
}

function eventOf(item: JournalItem | undefined): JsonObject {
  return (item?.["event"] ?? {}) as JsonObject;
}

/** Follows a run to its end, through the death of the daemon; `each` is told of everything when it comes. */
async function follow(
  daemon: Mortal,
  run: string,
  wire: ResumableWire,
  each: (item: JournalItem) => void = () => undefined,
): Promise<Parts> {
  const parts: JournalItem[][] = [];
  for (;;) {
    const after = parts.flat().at(-1)?.seq ?? 0;
    const part: JournalItem[] = [];
    parts.push(part);
    const { path, headers } = wire.request(run, after);
    try {
      const response = await daemon.ask(path, { headers });
      assert.equal(response.status, 200, `${wire.name} after ${after}`);
      for await (const item of wire.kept(response)) {
        part.push(item);
        each(item);
      }
    } catch (thrown) {
      // Only a lost connection is foreseen.
      if (!(thrown instanceof TypeError)) throw thrown;
    }
    if (part.some(isEnd)) return parts;
    assert.ok(parts.length < 3, `${wire.name} ends without an end after ${after}`);
    await daemon.reborn;
  }
}

/** An answer as the chat wire tells it, asked for once more under the same key when it is lost. */
async function chat(daemon: Mortal, asked: { readonly task: string; readonly key: string }) {
  const started = Promise.withResolvers<string>();
  const runs: string[] = [];
  const say = async (): Promise<string> => {
    const client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.token, maxRetries: 0 });
    const { data, response } = await client.chat.completions
      .create(
        { model: "bunny", stream: true, messages: [{ role: "user", content: asked.task }] },
        { headers: { "idempotency-key": asked.key } },
      )
      .withResponse();
    const run = response.headers.get("x-run-id") ?? "";
    runs.push(run);
    started.resolve(run);
    let text = "";
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? "";
    return text;
  };
  const whole = say().catch(async (lost: unknown) => {
    started.reject(lost);
    assert.ok(lost instanceof TypeError || lost instanceof OpenAI.APIConnectionError, String(lost));
    await daemon.reborn;
    return say();
  });
  return { run: await started.promise, whole, runs };
}

/** Answers what is asked as it comes in; what the death of the daemon left open is answered after it. */
class Person {
  readonly #daemon: Mortal;
  readonly #run: string;

  constructor(daemon: Mortal, run: string) {
    this.#daemon = daemon;
    this.#run = run;
  }

  async hears(item: JournalItem): Promise<void> {
    const event = eventOf(item);
    if (event["type"] !== "question.asked") return;
    const isUnknown = (event["about"] as JsonObject)["kind"] === "unknown";
    const body = JSON.stringify({ question: event["id"], answer: isUnknown ? "continue" : "yes" });
    const answer = async (): Promise<number> =>
      (await this.#daemon.ask(`/v1/runs/${this.#run}/answers`, { method: "POST", body })).status;
    const status = await answer().catch(async () => {
      await this.#daemon.reborn;
      return answer();
    });
    // A conflict: the answer was taken, and the daemon was killed before it could confirm it.
    assert.ok(status === 200 || status === 409, `answered with ${status}`);
  }
}

/** One run with effects and one death. */
async function round(stage: Stage, daemon: Mortal, death: (typeof DEATHS)[number]): Promise<void> {
  const file = `${death}.txt`;
  const lines = Array.from({ length: EFFECTS }, (_, index) => `"echo ${index + 1} >> ${file}; sleep 0.05"`);
  const { run, whole, runs } = await chat(daemon, { task: `run ${lines.join(" and ")}`, key: death });
  const person = new Person(daemon, run);
  const answers: Promise<void>[] = [];
  let passed = 0;
  let risen: Promise<void> | undefined;
  const others = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const watch = (item: JournalItem): void => {
    const isDue = typeOf(item) === death && ++passed === NTH;
    // Each follower has to be connected before it can be cut off.
    if (isDue) risen = Promise.all(others.map(({ promise }) => promise)).then(() => daemon.dieAndRise());
    answers.push(person.hears(item));
  };
  const [agent, sse, ndjson, text] = await Promise.all([
    follow(daemon, run, AGENT_SSE, () => others[0].resolve()),
    follow(daemon, run, JOURNAL_SSE, () => others[1].resolve()),
    follow(daemon, run, JOURNAL_NDJSON, watch),
    whole,
  ]);
  await Promise.all([risen, ...answers]);

  for (const parts of [agent, sse, ndjson]) {
    assert.equal(parts.length, 2, "each follower lost the daemon once");
    assert.ok(
      parts.every((part) => part.length > 0),
      "and saw something before and after it",
    );
  }
  const entries = ndjson.flat();
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, index) => index + 1),
    "each entry comes once and in its place",
  );
  assert.deepEqual(sse.flat(), entries);
  assert.deepEqual(agent.flat(), (await follow(daemon, run, AGENT_SSE)).flat());
  const { result } = eventOf(entries.at(-1));
  assert.equal(agent.flat().at(-1)?.["result"], result);
  // The turn of a chat ends with the first question of its run.
  assert.match(text, /^May this be done\?/);
  assert.ok(runs.length > 0 && runs.every((one) => one === run), runs.join(" "));
  assertEffects(join(stage.workspace, file), entries);
}

function assertEffects(file: string, entries: readonly JournalItem[]): void {
  const effects = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  const unknown = entries.filter((entry) => typeOf(entry) === "action.unknown").length;
  assert.equal(new Set(effects).size, effects.length, `an effect was doubled: ${effects.join(" ")}`);
  assert.ok(effects.length >= EFFECTS - unknown, `${effects.length} effects, ${unknown} unknown`);
}

test("F1 G2 G3 G5 a daemon that is killed and started again goes on with its run, and every follower with the next entry", async (t) => {
  await using stage = await Stage.set();
  let port = "0";
  for (const death of DEATHS) {
    await t.test(`killed at ${death}`, async () => {
      const life = await up(stage, port);
      port = life.port;
      await using daemon = new Mortal(stage, life);
      await round(stage, daemon, death);
    });
    assert.deepEqual(processesIn(stage.workspace), [], "no process is left behind");
  }
});
