import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { TestContext } from "node:test";
import { CODEC_LIMITS, WORKER_LIMITS } from "@vidro/core";
import { LineClient, setEngine } from "./scripted-engine.fixture.ts";
import { serveWorker } from "./serve-worker.ts";
import type { ServedWorker } from "./serve-worker.ts";

/** A worker that listens until the test ends. */
async function serve(t: TestContext): Promise<ServedWorker & { readonly client: () => LineClient }> {
  const { folder, options } = setEngine(t);
  const worker = await serveWorker(join(folder, "own/model.sock"), options);
  t.after(() => worker.close());
  return { ...worker, client: () => new LineClient(t, worker.socket) };
}

const texts = (lines: readonly object[]): string =>
  lines
    .map((line) => ("text" in line ? String(line.text) : ""))
    .join(" ")
    .trim();

describe("a line that is no request", () => {
  const cases: readonly (readonly [string | Uint8Array, RegExp])[] = [
    ["{", /JSON/],
    ["nonsense", /JSON/],
    ["[]", /one JSON object/],
    ["5", /one JSON object/],
    ["null", /one JSON object/],
    ['"status"', /one JSON object/],
    ["{}", /unknown_type/],
    ['{"type":"fly"}', /unknown_type/],
    ['{"type":5}', /unknown_type/],
    ['{"type":"__proto__"}', /unknown_type/],
    ['{"type":"generate"}', /session_id/],
    ['{"type":"generate","session_id":5,"prompt":"x"}', /session_id/],
    ['{"type":"generate","session_id":"x","prompt":null}', /prompt/],
    ['{"type":"generate","session_id":"x","prompt":"y","stream":"yes"}', /stream must be/],
    ['{"type":"generate","session_id":"x","prompt":"y","messages":{}}', /messages must be/],
    ['{"type":"generate","session_id":"x","prompt":"y","messages":[{"role":"root","content":"z"}]}', /A message has/],
    ['{"type":"create_session"}', /needs params/],
    ['{"type":"create_session","params":[]}', /needs params/],
    ['{"type":"abort"}', /session_id/],
    ['{"type":"close_session","session_id":""}', /session/],
    [`${"[".repeat(CODEC_LIMITS.jsonDepth + 1)}${"]".repeat(CODEC_LIMITS.jsonDepth + 1)}`, /deep|nest|depth/i],
    [Buffer.from([0x7b, 0xff, 0x7d]), /UTF-8/],
    ["\u0000", /JSON/],
    ["\ufeff{}", /JSON/],
  ];
  for (const [line, says] of cases)
    test(`is refused with its reason, and the next one is answered: ${JSON.stringify(String(line)).slice(0, 60)}`, async (t) => {
      const { client } = await serve(t);
      const one = client();
      one.write(line);
      one.write("\n");
      const refused = (await one.next()) ?? {};
      assert.equal(refused["ok"], false);
      assert.match(refused["error"] as string, says);
      assert.equal((await one.ask({ type: "status" }))["status"], "running");
    });

  test("is refused with the id that it came with, of any kind", async (t) => {
    const { client } = await serve(t);
    const one = client();
    for (const id of ["a", 7, null, { deep: [1] }]) {
      const { id: given, ok } = await one.ask({ type: "fly", id });
      assert.deepEqual([ok, given], [false, id]);
    }
  });

  test("is refused once when it is longer than its bound, and what follows it is read", async (t) => {
    const { client } = await serve(t);
    const one = client();
    one.write(Buffer.alloc(WORKER_LIMITS.lineBytes + 1, "x"));
    one.write('\n{"type":"status","id":2}\n');
    assert.equal((await one.next())?.["code"], "PAYLOAD_TOO_LARGE");
    assert.equal((await one.next())?.["id"], 2);
  });

  test("is none at all when it is empty", async (t) => {
    const { client } = await serve(t);
    const one = client();
    one.write("\n\n\r\n");
    assert.equal((await one.ask({ type: "status", id: 1 }))["id"], 1);
  });
});

describe("requests on a connection", () => {
  test("are read wherever their bytes are cut", async (t) => {
    const { client } = await serve(t);
    const bytes = Buffer.from(`${JSON.stringify({ type: "status", id: "grün 😀" })}\n`);
    const one = client();
    for (let at = 1; at < bytes.length; at += 1) {
      one.write(bytes.subarray(0, at));
      await new Promise(setImmediate);
      one.write(bytes.subarray(at));
      assert.equal((await one.next())?.["id"], "grün 😀", `cut at ${at}`);
    }
  });

  test("are answered in their order, but for those that a generation must not hold up", async (t) => {
    const { client } = await serve(t);
    const one = client();
    const session = await one.open();
    const lines = [
      { type: "generate", session_id: session, prompt: "wait begun", id: "g" },
      { type: "generate", session_id: session, prompt: "say after", id: "h" },
      { type: "status", id: "s" },
    ];
    one.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const first = [await one.next(), await one.next()].map((line) => line?.["id"]);
    assert.deepEqual(new Set(first), new Set(["g", "s"]));
    one.write(`${JSON.stringify({ type: "abort", session_id: session, id: "a" })}\n`);
    const rest = [];
    while (rest.length < 4) rest.push(await one.next());
    assert.deepEqual(
      rest
        .filter((line) => line?.["id"] !== "a")
        .map((line) => [line?.["id"], line?.["type"], line?.["reason"] ?? line?.["text"]]),
      [
        ["g", "stop", "aborted"],
        ["h", "token", "after"],
        ["h", "stop", "stop"],
      ],
    );
  });

  test("beyond the bound are not read until there is room, and none is lost", async (t) => {
    const { client } = await serve(t);
    const one = client();
    const session = await one.open();
    const count = WORKER_LIMITS.pendingRequests * 3;
    for (let id = 0; id < count; id += 1)
      one.write(`${JSON.stringify({ type: "generate", session_id: session, prompt: "say x", stream: false, id })}\n`);
    for (let id = 0; id < count; id += 1) {
      const line = await one.next();
      assert.deepEqual([line?.["id"], line?.["text"]], [id, "x"]);
    }
  });
});

describe("two clients", () => {
  test("have their own sessions and answers, at the same time", async (t) => {
    const { client } = await serve(t);
    const [one, other] = [client(), client()];
    const [mine, theirs] = [await one.open(), await other.open()];
    assert.notEqual(mine, theirs);
    const [a, b] = await Promise.all([one.generate(mine, "say a b"), other.generate(theirs, "say c d")]);
    assert.deepEqual([texts(a), texts(b)], ["a b", "c d"]);
  });

  test("may use one session, but not at once", async (t) => {
    const { client } = await serve(t);
    const [one, other] = [client(), client()];
    const session = await one.open();
    const waiting = one.generate(session, "wait begun");
    while (
      (await other.ask({ type: "generate", session_id: session, prompt: "say x", stream: false }))["code"] !==
      "MODEL_RATE_LIMITED"
    );
    assert.equal((await other.ask({ type: "abort", session_id: session }))["ok"], true);
    assert.equal((await waiting).at(-1)?.["reason"], "aborted");
    assert.equal(texts(await other.generate(session, "say mine")), "mine");
  });

  test("that leave in the middle of their answers give their slots back", async (t) => {
    const { client } = await serve(t);
    for (let times = 0; times < WORKER_LIMITS.slots * 2; times += 1) {
      const gone = client();
      const session = await gone.open();
      gone.write(`${JSON.stringify({ type: "generate", session_id: session, prompt: "wait begun" })}\n`);
      assert.equal((await gone.next())?.["text"], "begun");
      gone.socket.destroy();
      await once(gone.socket, "close");
    }
    const last = client();
    assert.equal(texts(await last.generate(await last.open(), "say still here")), "still here");
  });

  test("are not more than the bound; one that leaves makes room", async (t) => {
    const { client } = await serve(t);
    const all = Array.from({ length: WORKER_LIMITS.connections }, () => client());
    for (const one of all) assert.equal((await one.ask({ type: "status" }))["ok"], true);
    const refused = client();
    refused.write('{"type":"status"}\n');
    assert.equal(await refused.next(), undefined);
    all[0]?.socket.destroy();
    for (;;) {
      const next = client();
      next.write('{"type":"status"}\n');
      if ((await next.next()) !== undefined) break;
    }
  });
});

describe("a generation", () => {
  test("ends by its own word, at its bound, by an error of the engine, and says which", async (t) => {
    const { client } = await serve(t);
    const one = client();
    const short = await one.open({ max_tokens: 2 });
    assert.equal((await one.generate(short, "say a b")).at(-1)?.["reason"], "stop");
    const cut = await one.generate(short, "say a b c");
    assert.deepEqual([texts(cut), cut.at(-1)?.["reason"]], ["a b", "length"]);
    const failed = (await one.generate(short, "fail")).at(-1);
    assert.deepEqual([failed?.["type"], failed?.["ok"]], ["error", false]);
    assert.equal(texts(await one.generate(short, "say on")), "on");
  });

  test("of a conversation that leaves no room for an answer is refused by name", async (t) => {
    const { client } = await serve(t);
    const one = client();
    const [refused] = await one.generate(await one.open(), `say ${"x ".repeat(5000)}`);
    assert.deepEqual([refused?.["type"], refused?.["code"]], ["error", "MODEL_REFUSED"]);
    assert.match(refused?.["message"] as string, /The conversation has \d+ tokens, and the context takes 4096\./);
  });

  test("counts its tokens by itself, not those of the one before in the same slot", async (t) => {
    const { client } = await serve(t);
    const one = client();
    const session = await one.open();
    for (const words of ["a", "a b c", "a b"]) {
      const { usage } = (await one.generate(session, `say ${words}`)).at(-1) ?? {};
      assert.equal((usage as { output_tokens: number }).output_tokens, words.split(" ").length);
    }
  });

  test("with tools that no grammar can hold is refused when its session is opened", async (t) => {
    const { client } = await serve(t);
    const tools = [{ name: "unfit", parameters: { type: "object" } }];
    const refused = await client().ask({ type: "create_session", params: { tools } });
    assert.equal(refused["ok"], false);
    assert.match(refused["error"] as string, /cannot hold answers to the schemas of these tools/);
  });
});

describe("the socket of a worker", () => {
  test("is only its user's, and is gone when the worker is closed, with every generation ended", async (t) => {
    const { folder, options } = setEngine(t);
    const path = join(folder, "own/model.sock");
    const worker = await serveWorker(path, options);
    assert.deepEqual([statSync(path).mode & 0o777, statSync(join(folder, "own")).mode & 0o777], [0o600, 0o700]);
    const client = new LineClient(t, path);
    const session = await client.open();
    client.write(`${JSON.stringify({ type: "generate", session_id: session, prompt: "wait begun" })}\n`);
    await client.next();
    await worker.close();
    await once(client.socket, "close");
    assert.equal(existsSync(path), false);
    await worker.close();
  });

  test("that a dead worker left is taken over, one that is in use is not, nor is a file", async (t) => {
    const { folder, options } = setEngine(t);
    mkdirSync(join(folder, "own"), { mode: 0o700 });
    const [dead, used, file] = ["dead", "used", "file"].map((name) => join(folder, "own", name)) as [
      string,
      string,
      string,
    ];
    const other = createServer().listen(used);
    await once(other, "listening");
    t.after(() => void other.close());
    writeFileSync(file, "");
    // A name that points to a socket is none: it may point anywhere.
    symlinkSync(used, dead);
    await assert.rejects(serveWorker(used, options), { code: "PORT_TAKEN" });
    await assert.rejects(serveWorker(file, options), { code: "CONFLICT", message: /is there and is no socket/ });
    await assert.rejects(serveWorker(dead, options), { code: "CONFLICT" });
    const first = await serveWorker(join(folder, "own/again"), options);
    await first.close();
    await (await serveWorker(join(folder, "own/again"), options)).close();
  });

  test("is not made where other users can look, nor where no folder can be", async (t) => {
    const { folder, options } = setEngine(t);
    mkdirSync(join(folder, "open"));
    for (const mode of [0o755, 0o750, 0o707, 0o711]) {
      chmodSync(join(folder, "open"), mode);
      await assert.rejects(serveWorker(join(folder, "open/x"), options), {
        code: "BAD_REQUEST",
        message: /Other users can look/,
      });
    }
    writeFileSync(join(folder, "file"), "");
    await assert.rejects(serveWorker(join(folder, "file/x/y"), options), {
      code: "BAD_REQUEST",
      message: /cannot be made/,
    });
  });

  test("does not stay behind when the model cannot be loaded, and the reason is told", async (t) => {
    const { folder, options } = setEngine(t, "broken.gguf");
    const path = join(folder, "own/model.sock");
    await assert.rejects(serveWorker(path, options), {
      code: "BAD_REQUEST",
      message: /broken\.gguf cannot be loaded: tensors are missing/,
    });
    assert.equal(existsSync(path), false);
    const short = serveWorker(path, { ...options, memoryBytes: 10 });
    await assert.rejects(short, { code: "BAD_REQUEST", message: /does not fit the memory/ });
    assert.equal(existsSync(path), false);
  });
});
