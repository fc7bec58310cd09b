import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { Ajv } from "ajv";
import type { JsonObject } from "@vidro/core";
import { readConfig } from "../../packages/brain/src/config.ts";
import { chooseModel } from "../../packages/brain/src/models/choose.ts";
import { REQUEST } from "../../packages/brain/src/models/model.contract.ts";
import { writeRandomGguf, writeScriptedGguf } from "../../scripts/gguf.ts";
import { failingWorker, RawClient, startWorker, workerEnv } from "../support/model-worker.ts";
import type { Peer } from "../support/peer-process.ts";

/* `vidro worker` with real model files, by clients that share no code with it and by the brain. */

const folder = mkdtempSync(join(tmpdir(), "vidro-worker-"));
const socket = join(folder, "own/gemma.sock");
const random = join(folder, "random.gguf");
let worker: Peer;
let client: RawClient;

before(async () => {
  writeRandomGguf(random);
  worker = await startWorker(folder, "--model", random, "--socket", socket);
  client = new RawClient(socket);
});

after(async () => {
  client.close();
  await worker[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Long enough that it is still under way when a test acts on it. */
const LONG = { temperature: 1, max_tokens: 4096, seed: 3 };

test("000-08 000-15 a worker is ready on a socket that no other user can open, and tells the facts of its model", async () => {
  assert.deepEqual([worker.line["ready"], worker.line["socket"]], [true, socket]);
  assert.deepEqual([statSync(socket).mode & 0o777, statSync(dirname(socket)).mode & 0o777], [0o600, 0o700]);
  const { ok, status, model_info: info, sessions } = await client.ask({ type: "status" });
  assert.deepEqual([ok, status, sessions], [true, "running", 0]);
  const { name, context_tokens, extensions } = info as JsonObject;
  assert.deepEqual([name, context_tokens, extensions], ["random", 8192, ["messages", "tools"]]);
});

test("000-11 000-12 000-17 000-19 a session with clamped numbers streams its tokens and stops", async () => {
  const session_id = await client.session({ temperature: 99, top_p: 7, max_tokens: -3, repeat_penalty: 50 });
  const { text, end } = await client.generate({ session_id, prompt: "say" });
  assert.ok(text.length <= 4, JSON.stringify(text));
  assert.deepEqual([end["type"], end["reason"], (end["usage"] as JsonObject)["output_tokens"]], ["stop", "length", 1]);
  const whole = await client.ask({ type: "generate", session_id, prompt: "say", stream: false });
  assert.deepEqual([whole["ok"], typeof whole["text"]], [true, "string"]);
});

test("000-13 an abort from a second connection stops the tokens within 200 ms, and the session goes on", async () => {
  const session_id = await client.session(LONG);
  const other = new RawClient(socket);
  const times: number[] = [];
  // The best of three: the machine may be busy with other tests. A round in which the model came to its own end first
  // shows nothing.
  for (let rounds = 0; times.length < 3 && rounds < 30; rounds += 1) {
    client.send({ type: "generate", session_id, prompt: "on and on" });
    assert.equal((await client.next())["type"], "token");
    const began = performance.now();
    assert.deepEqual(await other.ask({ type: "abort", session_id }), { ok: true });
    let line = await client.next();
    while (line["type"] === "token") line = await client.next();
    if (line["reason"] === "stop") continue;
    times.push(performance.now() - began);
    assert.deepEqual(line, { type: "stop", reason: "aborted" });
    assert.equal((await client.ask({ type: "status" }))["status"], "running", "no token came after the stop");
  }
  assert.equal(times.length, 3, "the model was aborted three times");
  assert.ok(Math.min(...times) < 200, `${times.join(", ")} ms`);
  assert.equal((await other.generate({ session_id, prompt: "again" })).end["type"], "stop");
  other.close();
});

test("000-14 000-20 a closed session is unknown, and the stream says so", async () => {
  const session_id = await client.session();
  assert.deepEqual(await client.ask({ type: "close_session", session_id }), { ok: true });
  const { end } = await client.generate({ session_id, prompt: "x" });
  assert.equal(end["type"], "error");
  assert.match(end["message"] as string, /unknown session/);
  for (const type of ["abort", "close_session"])
    assert.match((await client.ask({ type, session_id }))["error"] as string, /unknown session/);
});

test("000-09 000-10 000-16 000-21 000-22 what is no request is refused by name, and the connection stays usable", async () => {
  const rows: readonly (readonly [JsonObject | string | Buffer, RegExp])[] = [
    [{ type: "sing" }, /^unknown_type$/],
    [{}, /^unknown_type$/],
    ["[1]\n", /one JSON object/],
    ["{broken\n", /not JSON/],
    [Buffer.of(0xff, 0xfe, 0x0a), /not UTF-8/],
    [`{"type":"status","x":"${"x".repeat(1_100_000)}"}\n`, /longer than 1048576 bytes/],
    [`${"[".repeat(5000)}\n`, /deeper/],
    [{ type: "create_session" }, /params/],
    [{ type: "create_session", params: { temperature: "hot" } }, /temperature must be a number/],
    [{ type: "generate", session_id: "x" }, /prompt/],
    [{ type: "abort" }, /session_id/],
  ];
  for (const [request, words] of rows) {
    const { ok, error } = await client.ask(request);
    assert.equal(ok, false);
    assert.match(error as string, words);
  }
  const split = Buffer.from('{"type":"status","id":"é🪟"}\n');
  for (const byte of split.subarray(0, -1)) {
    client.send(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  assert.equal((await client.ask(split.subarray(-1)))["id"], "é🪟");
});

test("requests of an envelope are taken, and each line of the answer has their id", async () => {
  const created = await client.ask({ id: "a", method: "create_session", params: { max_tokens: 3 }, timestamp: "now" });
  assert.deepEqual([created["ok"], created["id"]], [true, "a"]);
  const params = { session_id: created["session_id"] as string, prompt: "x" };
  client.send({ id: "b", method: "generate", params });
  for (let line = await client.next(); ; line = await client.next()) {
    assert.equal(line["id"], "b");
    if (line["type"] === "stop") break;
  }
});

test("the next answer of a session does not evaluate again what was evaluated, also with two sessions in turn", async () => {
  const sessions = [await client.session({ max_tokens: 8 }), await client.session({ max_tokens: 8 })];
  const messages = [{ role: "system", content: "You are brief. ".repeat(50) }];
  for (const step of ["first", "second"]) {
    for (const [at, session_id] of sessions.entries()) {
      const { end } = await client.generate({ session_id, prompt: `${step} ${at}`, messages });
      const { input_tokens: all, cached_tokens: cached } = end["usage"] as { [name: string]: number };
      assert.ok(all! > 700, JSON.stringify(end));
      if (step === "second") assert.ok(cached! > 700, JSON.stringify(end));
    }
  }
});

test("generations take turns: clients that always have a next one do not hold up another", async () => {
  const order: string[] = [];
  const quick = new RawClient(socket);
  const crowd = Array.from({ length: 6 }, async () => {
    const one = new RawClient(socket);
    const session_id = await one.session({ ...LONG, max_tokens: 150 });
    for (let round = 0; round < 5; round++) {
      await one.generate({ session_id, prompt: "on", messages: [] });
      order.push("crowd");
      if (order.length === 1)
        void quick
          .session({ max_tokens: 1 })
          .then((id) => quick.generate({ session_id: id, prompt: "quick" }))
          .then(() => order.push("quick"));
    }
    one.close();
  });
  await Promise.all(crowd);
  // One turn of each of the six, and what ended while the quick one was on its way.
  assert.ok(order.indexOf("quick") > 0 && order.indexOf("quick") < 14, order.join(", "));
  quick.close();
});

const parameters = {
  type: "object",
  additionalProperties: false,
  required: ["path", "depth"],
  properties: {
    path: { type: "string", minLength: 1 },
    depth: { type: "integer", minimum: 0 },
    order: { enum: ["name", "size"] },
    tags: { type: "array", items: { type: ["string", "null"] } },
    where: {
      type: "object",
      properties: { deep: { type: "boolean" } },
      required: ["deep"],
      additionalProperties: false,
    },
  },
};

test("with tools, random weights give a well-formed action every time, which fits the schema of its tool", async () => {
  const fits = new Ajv({ allowUnionTypes: true }).compile(parameters);
  for (let seed = 1; seed <= 6; seed++) {
    const params = {
      temperature: 1,
      max_tokens: 4096,
      seed,
      tools: [{ name: "look", parameters }],
      tool_choice: "required",
    };
    const { text, end } = await client.generate({ session_id: await client.session(params), prompt: "do something" });
    assert.equal(end["reason"], "stop");
    const { type, name, args } = JSON.parse(text) as JsonObject;
    assert.deepEqual([type, name], ["use_tool", "look"]);
    assert.ok(fits(args), `${text} ${JSON.stringify(fits.errors)}`);
  }
});

test("a worker that is killed in its answer is MODEL_CUT for the brain, and another takes the socket over: token, action, hand, done", async () => {
  const env = { VIDRO_MODEL: "worker", FAZAI_GEMMA_SOCK: socket };
  const model = await chooseModel(readConfig({ env }));
  const seen: string[] = [];
  const sampling = { temperature: 1, maxTokens: 4096 };
  for await (const event of model.call({ ...REQUEST, tools: [], sampling }, new AbortController().signal)) {
    if (seen.length === 0) worker.child.kill("SIGKILL");
    seen.push(event.type === "failed" ? event.fault.code : event.type);
  }
  assert.deepEqual([seen[0], seen.at(-1)], ["delta", "MODEL_CUT"]);

  const scripted = join(folder, "models/scripted.gguf");
  mkdirSync(dirname(scripted));
  const command = "echo written by a local model > out.txt";
  const call = { type: "use_tool", name: "shell", args: { command } };
  writeScriptedGguf(scripted, [JSON.stringify(call), '{"type":"done","result":"It is in out.txt."}'], 65_536);
  worker = await startWorker(folder, "--model", dirname(scripted), "--socket", socket, "--context", "65536");
  assert.equal((worker.line["model_info"] as JsonObject)["name"], "scripted");
  const argv = ["run", "--json", "--yes", "write something into out.txt"];
  const cwd = join(folder, "workspace");
  mkdirSync(cwd);
  const vidro = join(import.meta.dirname, "../../packages/cli/bin/vidro");
  const { stdout, stderr } = spawnSync(vidro, argv, {
    cwd,
    env: { ...workerEnv(join(folder, "home")), ...env },
    encoding: "utf8",
    timeout: 60_000,
  });
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
  const last = events.at(-1);
  assert.equal(last?.["data"], "It is in out.txt.", stdout + stderr);
  assert.equal(readFileSync(join(cwd, "out.txt"), "utf8"), "written by a local model\n");
});

test("a broken file, a file that is no model, short memory, an open folder and a taken socket are refused by name", () => {
  const broken = join(folder, "broken.gguf");
  writeRandomGguf(broken);
  truncateSync(broken, statSync(broken).size - 10_000);
  const other = join(folder, "text.gguf");
  writeFileSync(other, "just some text, longer than a head of a model");
  const open = join(folder, "open");
  mkdirSync(open, { mode: 0o755 });
  const large = join(folder, "large.gguf");
  writeRandomGguf(large, { width: 256, hidden: 512 });
  const rows: readonly (readonly [string, number, readonly string[], RegExp])[] = [
    ["broken", 2, ["--model", broken], /broken\.gguf cannot be loaded/],
    ["text", 2, ["--model", other], /text\.gguf is no GGUF model/],
    ["nothing", 2, ["--model", join(folder, "none.gguf")], /There is nothing at .*none\.gguf/],
    ["folder", 2, ["--model", folder], /has broken\.gguf, large\.gguf, random\.gguf, text\.gguf: name one/],
    [
      "memory",
      2,
      ["--model", large, "--memory", "1"],
      /does not fit the memory: it needs 4 MiB, and 1 MiB may be used/,
    ],
    ["contexts", 2, ["--model", random, "--memory", "2"], /does not fit the memory: it needs \d\d MiB, and 2 MiB may/],
    ["taken", 6, ["--model", random, "--socket", socket], /Another worker listens on/],
    [
      "open folder",
      2,
      ["--model", random, "--socket", join(open, "x.sock")],
      /Other users can look into .* name a socket in a folder/,
    ],
  ];
  for (const [what, code, flags, words] of rows) {
    const failed = failingWorker(folder, "--socket", join(folder, "own/second.sock"), ...flags);
    assert.match(failed.words, words, what);
    assert.equal(failed.code, code, `${what}: ${failed.words}`);
  }
});
