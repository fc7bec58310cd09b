import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EXECUTOR_LIMITS } from "@vidro/core";
import { textOrEmpty } from "@vidro/core/wire/executor-ws";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { folderOf, ForeignExecutor } from "../support/foreign-executor.ts";
import { fakeOpenAi, text } from "../support/fake-openai.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { startRedis } from "../support/redis-server.ts";

/*
 * Two brains on one PostgreSQL and one Redis: what happens at one is seen at the other, and what a Redis that is away,
 * flaps or is emptied costs.
 */

const [server, redis, model] = await Promise.all([startPostgres(), startRedis(), fakeOpenAi()]);
const env = {
  VIDRO_STORE: server.storeUrl("bus"),
  VIDRO_BUS: redis.url,
  VIDRO_MODEL: "fake",
  VIDRO_MODEL_URL: model.url,
};
const stages = await Promise.all([Stage.set(env), Stage.set(env)]);
let one: DaemonProcess;
let two: DaemonProcess;

before(async () => {
  const flags = ["--port", "0"];
  [one, two] = await Promise.all([DaemonProcess.up(stages[0], { flags }), DaemonProcess.up(stages[1], { flags })]);
});
after(async () => {
  await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]);
  await Promise.all([...stages.map((stage) => stage[Symbol.asyncDispose]()), server.close(), redis.close()]);
  await model.close();
});

interface Line {
  readonly seq?: number;
  readonly event?: { readonly type: string };
  readonly live?: { readonly type: string; readonly text?: string };
}

/** The lines that a brain streams of a run, until one fits. */
async function linesUntil(
  brain: DaemonProcess,
  run: string,
  isLast: (line: Line) => boolean,
): Promise<readonly Line[]> {
  const headers = { accept: "application/x-ndjson" };
  const response = await brain.ask(`/v1/runs/${run}/events?after=0`, { headers });
  const seen: Line[] = [];
  let rest = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const found = (rest + chunk).split("\n");
    rest = found.pop() ?? "";
    for (const line of found) {
      seen.push(JSON.parse(line || "{}") as Line);
      if (isLast(seen.at(-1) ?? {})) return seen;
    }
  }
  return seen;
}

async function busOf(brain: DaemonProcess): Promise<string> {
  const { checks } = (await (await brain.ask("/readyz")).json()) as { checks: { bus: string } };
  return checks.bus;
}

test("words of a model reach a follower at another brain before they are in the journal, and a remark gets back", async () => {
  await until("both are up", async () => (await busOf(one)) === "ok" && (await busOf(two)) === "ok");
  const over = new AbortController();
  model.reply((response) => {
    if (over.signal.aborted) return text("done")(response);
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    const say = (content: string, finish: string | null = null): boolean => {
      const choice = { index: 0, delta: { content }, finish_reason: finish };
      return response.write(`data: ${JSON.stringify({ id: "c", choices: [choice] })}\n\n`);
    };
    // What was said before the other brain listened is not said again.
    const talking = setInterval(() => say("word "), 20);
    over.signal.addEventListener("abort", () => {
      clearInterval(talking);
      say("end", "stop");
      response.end("data: [DONE]\n\n");
    });
  });
  const run = await one.run("say something");
  const seen = await linesUntil(two, run, ({ live }) => live?.type === "model.delta");
  assert.match(seen.at(-1)?.live?.text ?? "", /word/u);
  const said = await two.ask(`/v1/runs/${run}/messages`, {
    method: "POST",
    body: JSON.stringify({ text: "be brief" }),
  });
  assert.equal(said.status, 200, await said.text());
  over.abort();
  const whole = await linesUntil(two, run, () => false);
  assert.equal(whole.at(-1)?.event?.type, "run.finished");
  assert.ok(whole.some(({ event }) => event?.type === "remark.made"));
});

test("a token that is revoked at one brain is refused at the other within a second", async () => {
  const [made] = lines((await stages[0].run("tokens", "create", "--scopes", "runs", "--json")).stdout);
  const use = async (): Promise<number> =>
    (await fetch(`${two.url}/v1/runs`, { headers: { authorization: `Bearer ${String(made?.["token"])}` } })).status;
  await until("it is let in", async () => (await use()) === 200);
  const revoked = await stages[0].run("tokens", "revoke", String(made?.["token"]).split(".")[0] ?? "");
  assert.equal(revoked.code, 0, revoked.stderr);
  const since = performance.now();
  await until("it is refused", async () => (await use()) === 401);
  assert.ok(performance.now() - since < 1000, `${performance.now() - since} ms`);
});

test("004-05 004-14 a handshake is in Redis for an hour, and the progress of its task in a stream for a day", async () => {
  await using executor = await ForeignExecutor.dial(one);
  const ack = await executor.does(folderOf({})).shake({ client_version: "7", initial_prompt: "look" });
  await executor.hears("task_completed");
  const handshake = `handshake:{${textOrEmpty(ack, "session_id")}}`;
  const kept = JSON.parse(await redis.command<string>("GET", handshake)) as { client_version: string };
  assert.equal(kept.client_version, "7");
  const ttlOf = async (key: string): Promise<number> =>
    Number(await redis.command("PTTL", key)) / EXECUTOR_LIMITS.keptMs;
  assert.ok((await ttlOf(handshake)) > 0.9 && (await ttlOf(handshake)) <= 1);
  const run = textOrEmpty(ack, "run_id");
  const stream = `task:{${run}}:events`;
  const items = await redis.command<[string, [string, string]][]>("XRANGE", stream, "-", "+");
  const streamed = items.map(([, [, item]]) => JSON.parse(item) as Line);
  const entries = (await linesUntil(two, run, () => false)).filter(({ event }) => event !== undefined);
  const placed = (found: readonly Line[]) => found.map(({ seq, event }) => [seq, event?.type]);
  assert.deepEqual(placed(streamed.filter(({ event }) => event !== undefined)), placed(entries));
  assert.ok(streamed.some(({ live }) => live?.type === "model.delta"));
  assert.ok((await ttlOf(stream)) > 23 && (await ttlOf(stream)) <= 24);
});

test("F14: without Redis a brain says that it is degraded, runs go on, and all is well when it is back", async () => {
  await redis.kill();
  await until("it is seen", async () => (await busOf(one)) === "degraded" && (await busOf(two)) === "degraded");
  const { status, details } = (await (await two.ask("/readyz")).json()) as { status: string; details: { bus: string } };
  assert.equal(status, "degraded");
  assert.match(details.bus, /cannot be reached.*Until it is back, hands and live output/u);
  assert.match(await (await two.ask("/metrics")).text(), /^vidro_bus_up 0$/mu);
  const run = await one.run("say something");
  const seen = await linesUntil(two, run, () => false);
  assert.equal(seen.at(-1)?.event?.type, "run.finished");
  await redis.start();
  await until("it is back", async () => (await busOf(one)) === "ok" && (await busOf(two)) === "ok");
  await redis.command("FLUSHALL");
  assert.match(await (await two.ask("/metrics")).text(), /^vidro_bus_up 1$/mu);
});
