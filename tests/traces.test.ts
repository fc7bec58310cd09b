import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { lines, Stage } from "../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "./support/daemon-process.ts";
import { calls, fakeOpenAi, text } from "./support/fake-openai.ts";
import type { FakeAnswer, FakeOpenAi } from "./support/fake-openai.ts";
import { startOtlpReceiver } from "./support/otlp-receiver.ts";
import type { OtlpReceiver, ReceivedSpan } from "./support/otlp-receiver.ts";

/* One trace over a client, the brain, a model server and a hand in another process, at one receiver of OTLP. */

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];

/** A model server with traces of its own, whose run calls one command. */
async function tracedModel(t: TestContext, receiver: OtlpReceiver, command: string): Promise<FakeOpenAi> {
  let number = 0;
  const answer: FakeAnswer = (response, { headers, body }) => {
    const [, traceId = "", parentSpanId = ""] = String(headers["traceparent"]).split("-");
    number += 1;
    const spanId = String(number).padStart(16, "0");
    const times = { startTimeUnixNano: "1", endTimeUnixNano: "2" };
    const span = { traceId, spanId, parentSpanId, name: "inference", kind: SERVER, ...times, attributes: [] };
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "model" } }] };
    const resourceSpans = [{ resource, scopeSpans: [{ spans: [span] }] }];
    void fetch(`${receiver.url}/v1/traces`, { method: "POST", body: JSON.stringify({ resourceSpans }) });
    const input = JSON.stringify({ command, access: "host" });
    if (JSON.stringify(body["messages"]).includes('"role":"tool"')) return text("done")(response);
    return calls({ id: "c1", name: "shell", input })(response);
  };
  const model = await fakeOpenAi(answer);
  t.after(() => model.close());
  return model;
}

/** A hand in a process of its own that a brain dials; `flags` dial it. */
async function tracedHand(host: Stage): Promise<readonly string[]> {
  const [made] = lines((await host.run("tokens", "create", "--scopes", "hand,approve", "--json")).stdout);
  const hand = host.start("hands", "serve", "--tcp", "127.0.0.1:0", "--name", "web-2", "--json");
  const [ready] = (await once(hand.stdout, "data")) as [Buffer];
  const { tcp } = JSON.parse(ready.toString("utf8")) as { tcp: string };
  return ["hands", "dial", `tcp://${tcp}`, "--token", String(made?.["token"]), "--json"];
}

async function startTraced(brain: DaemonProcess): Promise<string> {
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
  const body = JSON.stringify({ task: "do it", hand: "web-2" });
  const response = await brain.ask("/v1/runs", { method: "POST", headers, body });
  const { id } = (await response.json()) as { id: string };
  await until("it asks", async () => (await statusOf(brain, id)) === "asking");
  await brain.ask(`/v1/runs/${id}/answers`, { method: "POST", body: JSON.stringify({ answer: "yes" }) });
  return id;
}

async function statusOf(brain: DaemonProcess, run: string): Promise<string> {
  return ((await (await brain.ask(`/v1/runs/${run}`)).json()) as { status: string }).status;
}

/** The only span of that name. */
function only(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name);
  assert.equal(found.length, 1, `${name} among ${spans.map((span) => span.name).join(", ")}`);
  return found[0]!;
}

/** Checks that every span of the run is in one trace, each below the one that asked for it. */
function assertTrace(spans: readonly ReceivedSpan[], run: string): void {
  assert.deepEqual(new Set(spans.map(({ traceId }) => traceId)), new Set([TRACE]));
  const root = only(spans, "invoke_agent bunny");
  assert.deepEqual([root.parentSpanId, root.kind, root.service], [CALLER, INTERNAL, "vidro"]);
  assert.equal(root.attributes["vidro.run.id"], run);
  const steps = ["step 1", "step 2"].map((name) => only(spans, name));
  for (const step of steps) assert.equal(step.parentSpanId, root.spanId);
  const chats = spans.filter(({ name }) => name.startsWith("chat "));
  assert.deepEqual(
    chats.map(({ parentSpanId }) => parentSpanId),
    steps.map(({ spanId }) => spanId),
  );
  const tool = only(spans, "execute_tool shell");
  assert.deepEqual([tool.parentSpanId, tool.kind], [steps[0]?.spanId, CLIENT]);
  const hands = spans.filter(({ name }) => name === "hand shell");
  assert.ok(hands.length > 0);
  for (const hand of hands)
    assert.deepEqual([hand.parentSpanId, hand.kind, hand.service], [tool.spanId, SERVER, "web-2"]);
  for (const inference of spans.filter(({ service }) => service === "model"))
    assert.ok(chats.some(({ spanId }) => spanId === inference.parentSpanId));
}

test("a client, a brain, a model server and a hand in another process are in one trace", async (t) => {
  await using receiver = await startOtlpReceiver();
  const model = await tracedModel(t, receiver, "echo hi");
  const OTEL = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b" };
  await using host = await Stage.set({ ...OTEL, OTEL_SERVICE_NAME: "web-2" });
  await using stage = await Stage.set({ ...OTEL, VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  await using brain = await DaemonProcess.up(stage, { flags: ["--port", "0", "--no-local-hand"] });
  const dialled = await stage.run(...(await tracedHand(host)));
  assert.equal(dialled.code, 0, dialled.stderr);
  const run = await startTraced(brain);
  const { spans } = receiver;
  await until("all spans have come", () =>
    ["invoke_agent bunny", "hand shell"].every((name) => spans.some((span) => span.name === name)),
  );
  await until(
    "the model server's spans have come",
    () => spans.filter((span) => span.service === "model").length === 2,
  );
  assertTrace(spans, run);
  const [chat] = spans.filter(({ name }) => name.startsWith("chat "));
  assert.deepEqual(
    ["gen_ai.operation.name", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"].map(
      (name) => chat?.attributes[name],
    ),
    ["chat", "11", "7"],
  );
  assert.equal(only(spans, "execute_tool shell").attributes["gen_ai.tool.name"], "shell");
  assert.equal(only(spans, "ask a person").attributes["vidro.question.kind"], "approval");
  assert.ok(receiver.headers.some((headers) => headers["x-key"] === "a b"));
  // No word of the task, the command or its output leaves by this way.
  assert.doesNotMatch(JSON.stringify(spans), /do it|echo hi/);
});

test("a run that a killed brain began goes on in the same trace, with no span below nothing", async (t) => {
  await using receiver = await startOtlpReceiver();
  const model = await tracedModel(t, receiver, "touch begun; sleep 2");
  const OTEL = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces` };
  await using host = await Stage.set({ ...OTEL, OTEL_SERVICE_NAME: "web-2" });
  await using stage = await Stage.set({ ...OTEL, VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  const killed = await DaemonProcess.up(stage, { flags: ["--port", "0", "--no-local-hand"] });
  const dialled = await stage.run(...(await tracedHand(host)));
  assert.equal(dialled.code, 0, dialled.stderr);
  const run = await startTraced(killed);
  await until("the hand works", () => existsSync(join(host.workspace, "begun")));
  await killed.end("SIGKILL");
  await using brain = await DaemonProcess.up(stage, { flags: ["--port", "0", "--no-local-hand"] });
  await until("it is over", async () => (await statusOf(brain, run)) === "finished");
  await until("the last span has come", () => receiver.spans.some(({ name }) => name === "invoke_agent bunny"));
  await until("the hand's span has come", () => receiver.spans.some(({ name }) => name === "hand shell"));
  assertTrace(receiver.spans, run);
});

/** A hand that has joined the brain by a wire of its own choice, in a process of its own. */
async function joinTraced(host: Stage, brain: DaemonProcess, transport: "ws" | "http"): Promise<void> {
  const body = JSON.stringify({ name: "web-2", installed: true });
  const invited = await brain.ask("/v1/hands/invitations", { method: "POST", body });
  const { url, token } = (await invited.json()) as { url: string; token: string };
  const hand = host.start("hands", "join", url, "--token", token, "--transport", transport, "--json");
  await once(hand.stdout, "data");
}

for (const [wire, transport] of [
  ["WebSocket", "ws"],
  ["signed HTTP", "http"],
] as const)
  test(`a hand that has joined by ${wire} is in the trace of its run`, async (t) => {
    await using receiver = await startOtlpReceiver();
    const model = await tracedModel(t, receiver, "echo hi");
    const OTEL = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    await using host = await Stage.set({ ...OTEL, OTEL_SERVICE_NAME: "web-2" });
    await using stage = await Stage.set({ ...OTEL, VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
    const flags = ["--port", "0", "--no-local-hand", "--southbound-port", "0"];
    await using brain = await DaemonProcess.up(stage, { flags });
    await joinTraced(host, brain, transport);
    const run = await startTraced(brain);
    await until("it is over", async () => (await statusOf(brain, run)) === "finished");
    await until("the run and its hand are told", () =>
      ["invoke_agent bunny", "hand shell"].every((name) => receiver.spans.some((span) => span.name === name)),
    );
    assertTrace(receiver.spans, run);
  });

test("an executor is in the trace of the run that it began, with every look of its bootstrap", async (t) => {
  await using receiver = await startOtlpReceiver();
  const model = await tracedModel(t, receiver, "echo hi");
  const OTEL = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  await using host = await Stage.set({ ...OTEL, OTEL_SERVICE_NAME: "web-2" });
  await using stage = await Stage.set({ ...OTEL, VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  await using brain = await DaemonProcess.up(stage, { flags: ["--port", "0", "--no-local-hand"] });
  const executor = host.start("code", "do it", "--url", brain.url, "--token", brain.token, "--json");
  const over = once(executor, "close");
  for (const stream of [executor.stdout, executor.stderr]) stream.resume();
  await over;
  const { spans } = receiver;
  await until("the run is told", () => spans.some(({ name }) => name === "invoke_agent bunny"));
  const actions = (): readonly ReceivedSpan[] => spans.filter(({ name }) => name.startsWith("execute_tool "));
  const worked = (): readonly ReceivedSpan[] => spans.filter(({ name }) => name.startsWith("hand "));
  await until("each action is told by its hand", () => worked().length >= actions().length);
  const root = only(spans, "invoke_agent bunny");
  const told = [...actions(), ...worked()];
  assert.deepEqual(new Set(told.map(({ traceId }) => traceId)), new Set([root.traceId]));
  assert.ok(worked().length > 0);
  for (const hand of worked()) {
    assert.deepEqual([hand.kind, hand.service], [SERVER, "web-2"]);
    assert.ok(
      actions().some(({ spanId }) => spanId === hand.parentSpanId),
      `${hand.name} is below its action`,
    );
  }
});
