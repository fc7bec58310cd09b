import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { FaultCode, FaultReport, JsonObject, Model } from "@vidro/core";
import { readConfig } from "../../packages/brain/src/config.ts";
import { eventsOf, REQUEST, terminalOf } from "../../packages/brain/src/models/model.contract.ts";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { serveDaemon } from "../../packages/brain/src/daemon.ts";
import { temporaryFolder } from "../support/local-runs.ts";
import { storeSettings } from "../support/store-settings.ts";
import { scriptedWorker } from "../support/scripted-worker.ts";
import type { ScriptedWorker, WorkerScript } from "../support/scripted-worker.ts";

/* The brain's end of the worker's socket, against workers that share no code with it. */

const OURS = { extensions: ["messages", "tools"] };

async function start(t: TestContext, script: WorkerScript = {}): Promise<{ worker: ScriptedWorker; model: Model }> {
  const worker = await scriptedWorker(script);
  t.after(() => worker.close());
  return { worker, model: await modelAt(worker.socket) };
}

function modelAt(socket: string, more: JsonObject = {}): Promise<Model> {
  return chooseModel(readConfig({ env: { VIDRO_MODEL: "worker", FAZAI_GEMMA_SOCK: socket, ...(more as {}) } }));
}

async function wordsOf(model: Model): Promise<string> {
  const last = terminalOf(await eventsOf(model));
  assert.ok(last.type === "replied", JSON.stringify(last));
  return last.reply.text;
}

async function faultOf(model: Model): Promise<FaultReport> {
  const last = terminalOf(await eventsOf(model));
  assert.ok(last.type === "failed", JSON.stringify(last));
  return last.fault;
}

const say = (socket: { write(text: string): unknown }, line: JsonObject): void =>
  void socket.write(`${JSON.stringify(line)}\n`);

test("000-09 000-12 000-14 each answer has a session that is created, used and closed, one JSON object per line", async (t) => {
  const { worker, model } = await start(t, { flavour: "json", answer: ["so ", "be", " it"] });
  const sampling = { temperature: 0.5, topP: 0.25, maxTokens: 99, repeatPenalty: 1.5 };
  const last = terminalOf(await eventsOf(model, { ...REQUEST, sampling }));
  assert.equal(last.type === "replied" && last.reply.text, "so be it");
  await worker.seen(({ type }) => type === "close_session");
  const [status, created, generate, closed] = worker.requests;
  assert.deepEqual([status?.["type"], created?.["type"]], ["status", "create_session"]);
  assert.deepEqual(created?.["params"], { temperature: 0.5, top_p: 0.25, max_tokens: 99, repeat_penalty: 1.5 });
  assert.deepEqual(generate?.["session_id"], closed?.["session_id"]);
  assert.equal(generate?.["stream"], true);
  const prompt = generate["prompt"] as string;
  for (const part of ["You are brief.", "list the files", "read_folder", "Assistant:"])
    assert.ok(prompt.includes(part));
});

test("000-17 000-18 000-19 plain text lines are tokens with their white space, an action among them stays on its line", async (t) => {
  const action = '{"type":"use_tool","name":"read_folder","args":{}}';
  const { model } = await start(t, { answer: ["  I", " look.", "", action, "never mind"] });
  assert.equal(await wordsOf(model), `  I look.\n\n${action}\nnever mind`);
});

test("000-10 characters that are split over packets are joined", async (t) => {
  const bytes = Buffer.from('ação 漢字 🪟\n{"type":"token","text":"🪟é"}\n{"type":"stop"}\n');
  const { model } = await start(t, {
    take(request, socket) {
      if (request["type"] !== "generate") return false;
      void (async () => {
        for (const byte of bytes) {
          socket.write(Buffer.of(byte));
          await new Promise(setImmediate);
        }
      })();
      return true;
    },
  });
  assert.equal(await wordsOf(model), "ação 漢字 🪟🪟é");
});

/** A worker that goes wrong in one way, when it is asked for something. */
const row = (
  type: string,
  act: (socket: Parameters<NonNullable<WorkerScript["take"]>>[1]) => void,
): NonNullable<WorkerScript["take"]> => {
  return (request, socket) => {
    if (request["type"] !== type) return false;
    act(socket);
    return true;
  };
};

const HOSTILE: readonly (readonly [string, NonNullable<WorkerScript["take"]>, FaultCode, RegExp])[] = [
  ["refuses its status", row("status", (s) => say(s, { ok: false, error: "cannot" })), "MODEL_UNAVAILABLE", /cannot/],
  [
    "is loading",
    row("status", (s) => say(s, { ok: true, status: "loading" })),
    "MODEL_UNAVAILABLE",
    /still loading its model/,
  ],
  ["gives no session_id", row("create_session", (s) => say(s, { ok: true })), "MODEL_RUBBISH", /no session_id/],
  ["answers a request with text", row("create_session", (s) => s.write("hm\n")), "MODEL_RUBBISH", /without ok/],
  [
    "says what failed in the stream",
    row("generate", (s) => (s.write("so\n"), say(s, { type: "error", message: "unknown session" }))),
    "MODEL_UNAVAILABLE",
    /unknown session/,
  ],
  [
    "refuses by code",
    row("generate", (s) => say(s, { type: "error", message: "too long", code: "MODEL_REFUSED" })),
    "MODEL_REFUSED",
    /too long/,
  ],
  ["dies in the middle", row("generate", (s) => (s.write("so\n"), s.destroySoon())), "MODEL_CUT", /before its answer/],
  ["dies at once", row("status", (s) => s.destroy()), "MODEL_CUT", /before its answer|broke/],
  ["says nothing at all", row("generate", (s) => say(s, { type: "stop" })), "MODEL_RUBBISH", /empty/],
  [
    "sends a line without end",
    row("generate", (s) => s.write(Buffer.alloc(1_100_000, "x"))),
    "MODEL_RUBBISH",
    /more than/,
  ],
  ["sends no UTF-8", row("generate", (s) => s.write(Buffer.of(0xff, 0xfe, 10))), "MODEL_RUBBISH", /UTF-8/],
  ["stops by itself", row("generate", (s) => say(s, { type: "stop", reason: "aborted" })), "MODEL_CUT", /before/],
];

for (const [what, take, code, words] of HOSTILE) {
  test(`000-20 000-22 a worker that ${what} is ${code}`, async (t) => {
    const { model } = await start(t, { take });
    const fault = await faultOf(model);
    assert.equal(fault.code, code, fault.message);
    assert.match(fault.message, words);
  });
}

test("000-08 000-63 a worker that is missing is told of by the path of its socket and by what to do", async (t) => {
  const { worker } = await start(t);
  const gone = `${worker.socket}.gone`;
  const fault = await faultOf(await modelAt(gone));
  assert.equal(fault.code, "MODEL_UNAVAILABLE");
  assert.match(fault.message, new RegExp(`No worker answers on ${gone} .ENOENT.: start one with vidro worker`));
  assert.match((await faultOf(await modelAt("/run/fazai/none.sock"))).message, /none\.sock/);
});

test("000-23 a worker that hangs before or between its tokens is given up, and is told to stop", async (t) => {
  for (const tokens of [[], ["so"]]) {
    const worker = await scriptedWorker({
      take(request, socket) {
        if (request["type"] !== "generate") return false;
        for (const token of tokens) socket.write(`${token}\n`);
        return true;
      },
    });
    t.after(() => worker.close());
    const fault = await faultOf(await modelAt(worker.socket, { VIDRO_MODEL_TIMEOUT_MS: "200" }));
    assert.equal(fault.code, "MODEL_TIMEOUT");
    await worker.seen(({ type }) => type === "abort");
  }
});

test("000-13 an abort goes out by a second connection within 200 ms, and the session is closed", async (t) => {
  const { worker, model } = await start(t, {
    take: row("generate", (socket) => {
      const timer = setInterval(() => socket.write("x\n"), 5);
      socket.on("close", () => clearInterval(timer));
    }),
  });
  const controller = new AbortController();
  let began = 0;
  let seen = 0;
  for await (const event of model.call(REQUEST, controller.signal)) {
    if (event.type === "failed") assert.equal(event.fault.code, "MODEL_CUT");
    if (event.type !== "delta" || (seen += 1) !== 3) continue;
    began = performance.now();
    controller.abort();
  }
  const abort = await worker.seen(({ type }) => type === "abort");
  assert.ok(performance.now() - began < 200, `${performance.now() - began} ms`);
  const closed = await worker.seen(({ type }) => type === "close_session");
  const generate = worker.requests.find(({ type }) => type === "generate");
  assert.deepEqual([abort["session_id"], closed["session_id"]], [generate?.["session_id"], generate?.["session_id"]]);
  assert.notEqual(abort["connection"], generate?.connection);
});

test("000-07 a worker that takes messages keeps the session of a conversation, and one that lost it gets a new one", async (t) => {
  let lost = false;
  const { worker, model } = await start(t, {
    info: OURS,
    take(request, socket) {
      if (request["type"] !== "generate" || !lost) return false;
      lost = false;
      say(socket, { type: "error", message: "unknown session" });
      return true;
    },
  });
  const action = { id: "act_1", tool: "read_folder", input: { dir_path: "." }, callId: "call_1" };
  const turns = [
    ...REQUEST.turns,
    { role: "assistant", text: "I look.", action },
    { role: "tool", callId: "call_1", tool: "read_folder", text: "a.txt", failed: false },
  ] as const;
  await eventsOf(model);
  lost = true;
  await eventsOf(model, { ...REQUEST, turns });
  await eventsOf(model, { ...REQUEST, turns });
  const generations = worker.requests.filter(({ type }) => type === "generate");
  const [first, refused, second, third] = generations.map(({ session_id }) => session_id);
  assert.equal(first, refused);
  assert.notEqual(first, second);
  assert.equal(second, third);
  assert.equal(generations[1]?.["prompt"], "Result of read_folder:\na.txt");
  const messages = generations[1]["messages"] as readonly JsonObject[];
  assert.deepEqual(
    messages.map(({ role }) => role),
    ["system", "user", "assistant"],
  );
  assert.equal(messages[2]?.["content"], 'I look.\n{"type":"use_tool","name":"read_folder","args":{"dir_path":"."}}');
  const created = worker.requests.find(({ type }) => type === "create_session");
  assert.deepEqual(created?.["params"], {
    tools: [{ name: "read_folder", parameters: REQUEST.tools[0]?.parameters }],
  });
});

test("000-08 a worker is found by itself when its socket answers, and not when it is silent", async (t) => {
  const { worker } = await start(t);
  const env = { FAZAI_GEMMA_SOCK: worker.socket, OLLAMA_HOST: "127.0.0.1:9" };
  const found = await chooseModel(readConfig({ env }));
  assert.deepEqual([found.name, found.because], ["worker", `a worker answers at unix:${worker.socket}`]);
  const silent = await scriptedWorker({ take: () => true });
  t.after(() => silent.close());
  assert.equal((await chooseModel(readConfig({ env: { ...env, FAZAI_GEMMA_SOCK: silent.socket } }))).name, "offline");
});

test("000-15 000-63 a worker that dies in its answer is replaced by the next model, the journal says so, the status tells the truth", async (t) => {
  const { worker } = await start(t, {
    take: row("generate", (socket) => (socket.write("so\n"), socket.destroySoon())),
  });
  const folder = temporaryFolder(t);
  const settings = { VIDRO_MODEL: "worker,offline", FAZAI_GEMMA_SOCK: worker.socket, ...storeSettings(folder) };
  const env = { ...settings, PATH: process.env["PATH"] };
  const daemon = await serveDaemon({
    home: join(folder, "state"),
    config: readConfig({ env }),
    workspace: folder,
    host: "127.0.0.1",
    port: 0,
    onRestart: "resume",
    localHand: true,
    version: "0.0.0",
    writeLog: () => undefined,
  });
  t.after(() => daemon.close());
  const authorization = `Bearer ${readFileSync(daemon.tokenFile, "utf8").trim()}`;
  const headers = { authorization, "content-type": "application/json" };
  const ask = (path: string, body?: JsonObject): Promise<Response> =>
    fetch(`${daemon.url}${path}`, { headers, ...(body && { method: "POST", body: JSON.stringify(body) }) });
  const gemma = async (): Promise<unknown> =>
    ((await (await ask("/agent/status")).json()) as JsonObject)["gemma_worker"];
  assert.equal(await gemma(), "available");
  const { session_id } = (await (await ask("/agent/sessions", {})).json()) as JsonObject;
  const stream = await (await ask("/agent/generate", { session_id, prompt: "which folder is this?" })).text();
  assert.match(stream, /"note":"worker failed .The worker ended the connection .* offline answers in its place/);
  assert.match(stream, /"type":"done"/);
  await worker.close();
  assert.equal(await gemma(), "unavailable");
});
