import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { readWorkerRequest } from "@vidro/core/wire/worker";
import type { WorkerMessage } from "@vidro/core/wire/worker";
import type { Engine, Generation } from "./engine/engine.ts";
import { Worker } from "./worker.ts";

/* A worker with an engine that says what it is told; conformance tests have the real one, behind a socket. */

const USAGE = { input_tokens: 3, cached_tokens: 1, output_tokens: 2 };

/** An engine that answers with words, and what it was asked. */
class WordyEngine implements Engine {
  readonly info = { name: "wordy" };
  readonly slots: number;
  readonly asked: Generation[] = [];
  /** Runs in each generation, behind its words. */
  behind: (generation: Generation) => Promise<void> = async () => undefined;

  constructor(slots = 1) {
    this.slots = slots;
  }

  makeForm(grammar: string) {
    return { grammar };
  }

  async generate(_slot: number, generation: Generation) {
    this.asked.push(generation);
    for (const word of ["one ", "two"]) generation.onText(word);
    await this.behind(generation);
    generation.onText("");
    return { reason: "stop", usage: USAGE } as const;
  }

  async close(): Promise<void> {}
}

/** A client, and the lines that it got. */
class Client {
  readonly lines: JsonObject[] = [];
  readonly #gone = new AbortController();
  readonly signal = this.#gone.signal;

  send(line: JsonObject): void {
    this.lines.push(line);
  }

  leave(): void {
    this.#gone.abort();
  }
}

async function ask(worker: Worker, request: JsonObject, client = new Client()): Promise<readonly JsonObject[]> {
  await worker.perform(readWorkerRequest(request), client);
  return client.lines;
}

async function open(worker: Worker, params: JsonObject = {}): Promise<string> {
  const [made] = await ask(worker, { type: "create_session", params });
  const id = made?.["session_id"];
  assert.ok(made?.["ok"] === true && typeof id === "string", JSON.stringify(made));
  return id;
}

function running(engine: WordyEngine): Worker {
  const worker = new Worker();
  worker.begin(engine);
  return worker;
}

test("while its model loads a worker says so, and refuses sessions by name", async () => {
  const worker = new Worker();
  const [status] = await ask(worker, { type: "status", id: "s1" });
  assert.deepEqual([status?.["ok"], status?.["status"], status?.["id"]], [true, "loading", "s1"]);
  const [refused] = await ask(worker, { type: "create_session", params: {} });
  assert.deepEqual([refused?.["ok"], refused?.["code"]], [false, "MODEL_UNAVAILABLE"]);
  worker.begin(new WordyEngine());
  const [later] = await ask(worker, { type: "status" });
  assert.deepEqual([later?.["status"], later?.["sessions"]], ["running", 0]);
});

test("a stream has its tokens and one stop; without a stream it is one reply", async () => {
  const worker = running(new WordyEngine());
  const session = await open(worker);
  const streamed = await ask(worker, { type: "generate", session_id: session, prompt: "go", stream: true, id: 7 });
  assert.deepEqual(
    streamed.map(({ type, text, id }) => [type, text, id]),
    [
      ["token", "one ", 7],
      ["token", "two", 7],
      ["token", "", 7],
      ["stop", undefined, 7],
    ],
  );
  assert.deepEqual([streamed.at(-1)?.["reason"], streamed.at(-1)?.["usage"]], ["stop", USAGE]);
  const [whole] = await ask(worker, { type: "generate", session_id: session, prompt: "go", stream: false });
  assert.deepEqual([whole?.["ok"], whole?.["text"], whole?.["reason"]], [true, "one two", "stop"]);
});

test("a session remembers its exchanges, and what was aborted is not one of them", async () => {
  const engine = new WordyEngine();
  const worker = running(engine);
  const session = await open(worker);
  const generate = (prompt: string, client = new Client()) =>
    ask(worker, { type: "generate", session_id: session, prompt, stream: true }, client);
  await generate("first");
  engine.behind = async ({ signal }) => {
    const [aborted] = await ask(worker, { type: "abort", session_id: session });
    assert.deepEqual([aborted?.["ok"], signal.aborted], [true, true]);
  };
  const stopped = await generate("second");
  assert.equal(stopped.at(-1)?.["reason"], "aborted");
  engine.behind = async () => undefined;
  await generate("third");
  const told = (messages: readonly WorkerMessage[] = []) => messages.map(({ role, content }) => `${role}: ${content}`);
  assert.deepEqual(told(engine.asked.at(-1)?.messages), ["user: first", "assistant: one two", "user: third"]);
});

test("an abort is told at once, also when the engine is slow to stop", async () => {
  const engine = new WordyEngine();
  const slow = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  engine.behind = () => (begun.resolve(), slow.promise);
  const worker = running(engine);
  const session = await open(worker);
  const client = new Client();
  const generation = ask(worker, { type: "generate", session_id: session, prompt: "go", stream: true }, client);
  await begun.promise;
  const [busy] = await ask(worker, { type: "generate", session_id: session, prompt: "me too", stream: false });
  assert.deepEqual([busy?.["ok"], busy?.["code"]], [false, "MODEL_RATE_LIMITED"]);
  await ask(worker, { type: "abort", session_id: session });
  assert.equal((await generation).at(-1)?.["reason"], "aborted");
  const heard = client.lines.length;
  slow.resolve();
  // The only slot is free again when the engine has ended, and its late words are dropped.
  const [next] = await ask(worker, { type: "generate", session_id: session, prompt: "again", stream: false });
  assert.equal(next?.["ok"], true);
  assert.equal(client.lines.length, heard);
});

test("a client that leaves, a session that is closed and a worker that ends stop their generations", async () => {
  const engine = new WordyEngine(3);
  const stopped: string[] = [];
  const begun: PromiseWithResolvers<void>[] = [];
  engine.behind = ({ signal, messages }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => (stopped.push(messages.at(-1)?.content ?? ""), resolve()));
      begun.shift()?.resolve();
    });
  const worker = running(engine);
  const [left, closed, ended] = [new Client(), new Client(), new Client()];
  const start = async (prompt: string, client: Client) => {
    const session = await open(worker);
    const now = Promise.withResolvers<void>();
    begun.push(now);
    const over = ask(worker, { type: "generate", session_id: session, prompt, stream: true }, client);
    await now.promise;
    return { session, over };
  };
  const all = [await start("left", left), await start("closed", closed), await start("ended", ended)] as const;
  left.leave();
  await all[0].over;
  await ask(worker, { type: "close_session", session_id: all[1].session });
  await all[1].over;
  worker.close();
  await all[2].over;
  assert.deepEqual(stopped, ["left", "closed", "ended"]);
  const [unknown] = await ask(worker, { type: "generate", session_id: all[1].session, prompt: "x", stream: true });
  assert.deepEqual([unknown?.["type"], unknown?.["ok"]], ["error", false]);
});

test("an engine that fails is an error of that generation, by its name, and the next one works", async () => {
  const engine = new WordyEngine();
  engine.behind = async () => Promise.reject(new Fault("MODEL_REFUSED", "The conversation has 9 tokens too many."));
  const worker = running(engine);
  const session = await open(worker);
  const failed = await ask(worker, { type: "generate", session_id: session, prompt: "go", stream: true });
  assert.deepEqual(
    [failed.at(-1)?.["type"], failed.at(-1)?.["code"], failed.at(-1)?.["message"]],
    ["error", "MODEL_REFUSED", "The conversation has 9 tokens too many."],
  );
  engine.behind = async () => undefined;
  const [next] = await ask(worker, { type: "generate", session_id: session, prompt: "go", stream: false });
  assert.equal(next?.["ok"], true);
  assert.equal(engine.asked.at(-1)?.messages.length, 1, "what failed is not part of the conversation");
});

test("the answers of a session with tools are held to a grammar of them", async () => {
  const engine = new WordyEngine();
  const worker = running(engine);
  const tools = [{ name: "look", parameters: { type: "object", properties: { path: { type: "string" } } } }];
  const session = await open(worker, { tools });
  await ask(worker, { type: "generate", session_id: session, prompt: "go", stream: false });
  assert.match(engine.asked[0]?.form?.grammar ?? "", /root ::=[^]*use_tool[^]*look/);
  const plain = await open(worker);
  await ask(worker, { type: "generate", session_id: plain, prompt: "go", stream: false });
  assert.equal(engine.asked[1]?.form, undefined);
});
