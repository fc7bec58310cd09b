import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import OpenAI from "openai";
import { Vidro } from "@vidro/client";
import { HTTP_LIMITS } from "@vidro/core";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { linesOf } from "../support/agent-server.ts";
import { fakeOpenAi, hangAfter } from "../support/fake-openai.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";

/* SIGTERM to a daemon that is being watched: everybody is told in the words of their own wire, and comes back. */

const TASK = 'run "touch made"';
const NDJSON = "application/x-ndjson";
const SSE = "text/event-stream";

/** Whether a time to come back is one that the daemon gives. */
const isSoon = (retryAfterMs: unknown): boolean =>
  typeof retryAfterMs === "number" &&
  retryAfterMs >= HTTP_LIMITS.returnMs / 2 &&
  retryAfterMs <= HTTP_LIMITS.returnMs * 1.5;

/** A run that waits for an answer. */
async function asking(daemon: DaemonProcess): Promise<string> {
  const run = await daemon.run(TASK);
  const status = async (): Promise<string> =>
    ((await (await daemon.ask(`/v1/runs/${run}`)).json()) as { status: string }).status;
  await until("the run asks", async () => (await status()) === "asking");
  return run;
}

async function watched(daemon: DaemonProcess, path: string, accept: string): Promise<Response> {
  const response = await daemon.ask(path, { headers: { accept } });
  assert.equal(response.status, 200);
  return response;
}

test("a daemon that is told to end tells those who watch when to come back, each in the words of their wire", async () => {
  await using stage = await Stage.set();
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const run = await asking(daemon);
  const [agent, glass, sse, ndjson] = await Promise.all([
    watched(daemon, `/agent/runs/${run}/events`, SSE),
    watched(daemon, `/agent/runs/${run}/events`, NDJSON),
    watched(daemon, `/v1/runs/${run}/events`, SSE),
    watched(daemon, `/v1/runs/${run}/events`, NDJSON),
  ]);
  const code = daemon.end("SIGTERM");
  for (const response of [agent, sse]) {
    const [, retryAfterMs] = /\n: going away\nretry: (\d+)\n\n$/.exec(await response.text()) ?? [];
    assert.ok(isSoon(Number(retryAfterMs)), `retry: ${retryAfterMs}`);
  }
  for (const response of [glass, ndjson]) {
    const last = (await linesOf(response)).at(-1);
    assert.deepEqual([last?.["type"], last?.["going_away"]], ["status", true]);
    assert.ok(isSoon(last?.["retry_after_ms"]));
  }
  assert.equal(await code, 0);
});

test("an answer that a chat was promised ends with an error that says so, not as if it were whole", async (t) => {
  const model = await fakeOpenAi(hangAfter("Once upon "));
  t.after(() => model.close());
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.token, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Tell me a story." }];
  const stream = await client.chat.completions.create({ model: "bunny", stream: true, messages });
  let code: Promise<number | null> | undefined;
  const read = async (): Promise<void> => {
    for await (const { choices } of stream) if (choices[0]?.delta.content) code ??= daemon.end("SIGTERM");
  };
  await assert.rejects(read(), /shutting down/);
  assert.equal(await code, 0);
});

test("requests that wait when the daemon is told to end get their 503, and until then /readyz says draining", async (t) => {
  const model = await fakeOpenAi(hangAfter("Once upon "));
  t.after(() => model.close());
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const asked = model.next();
  const chat = { model: "bunny", messages: [{ role: "user", content: "Tell me a story." }] };
  const waiting = [
    daemon.ask("/v1/chat/completions", { method: "POST", body: JSON.stringify(chat) }),
    daemon.ask("/v1/responses", { method: "POST", body: JSON.stringify({ model: "bunny", input: "And another." }) }),
  ];
  await asked;
  await until("both runs are at work", () => model.requests.length === 2);
  const code = daemon.end("SIGTERM");
  await until("it is draining", async () => {
    const ready = await daemon.ask("/readyz");
    return ready.status === 503 && ((await ready.json()) as { status: string }).status === "draining";
  });
  assert.equal((await daemon.ask("/healthz")).status, 200);
  for (const response of await Promise.all(waiting)) {
    assert.equal(response.status, 503);
    assert.ok(Number(response.headers.get("retry-after")) > 0);
    assert.match(await response.text(), /SHUTTING_DOWN/);
  }
  assert.equal(await code, 0);
});

test("a request that comes in while the daemon ends is 503, with the time to come back", async () => {
  await using stage = await Stage.set();
  await using daemon = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const follower = await watched(daemon, `/v1/runs/${await asking(daemon)}/events`, NDJSON);
  const socket = connect(Number(daemon.port), "127.0.0.1").setEncoding("utf8");
  let answer = "";
  socket.on("data", (text: string) => (answer += text));
  await new Promise<void>((resolve) => socket.write("GET /v1/models HTTP/1.1\r\n", () => resolve()));
  // Answered on another connection later, so the daemon has the first line of the other request by now.
  await daemon.ask("/healthz");
  const code = daemon.end("SIGTERM");
  await follower.text();
  socket.write(`Host: 127.0.0.1\r\nAuthorization: Bearer ${daemon.token}\r\n\r\n`);
  await once(socket, "close");
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  assert.match(head, /^HTTP\/1\.1 503 [^]*\r\nretry-after: \d+/i);
  assert.match(body, /SHUTTING_DOWN/);
  assert.equal(await code, 0);
  await assert.rejects(daemon.ask("/healthz"), "the port is closed");
});

test("G5 the client that was sent away follows the run in the next life of the daemon, without a gap", async () => {
  await using stage = await Stage.set();
  await using first = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  const run = await asking(first);
  const { url, token, port } = first;
  const seqs: number[] = [];
  const { promise: caughtUp, resolve: isCaughtUp } = Promise.withResolvers<void>();
  const following = (async () => {
    for await (const event of new Vidro({ url, token }).attach(run)) {
      if ("seq" in event) seqs.push(event.seq);
      if (event.type === "question.asked") isCaughtUp();
    }
  })();
  await caughtUp;
  assert.equal(await first.end("SIGTERM"), 0);
  await using second = await DaemonProcess.up(stage, { flags: ["--port", port] });
  await second.ask(`/v1/runs/${run}/answers`, { method: "POST", body: JSON.stringify({ answer: "yes" }) });
  await following;
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
});
