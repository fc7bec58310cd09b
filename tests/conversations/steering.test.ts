import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULTS } from "@vidro/core";
import type { Event, JsonObject } from "@vidro/core";
import { lines, Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, hang, text, textWith } from "../support/fake-openai.ts";
import type { FakeOpenAi } from "../support/fake-openai.ts";

/* A person says something while a run works: it is durable, told to the model with the next step, and cuts nothing off. */

const REMARK = "leave out the drafts";

async function stageWith(model: FakeOpenAi): Promise<Stage> {
  return await Stage.set({ VIDRO_MODEL: "compatible/steered", VIDRO_MODEL_URL: model.url });
}

function post(daemon: DaemonProcess, path: string, body: unknown, key?: string): Promise<Response> {
  const headers = key === undefined ? {} : { "idempotency-key": key };
  return daemon.ask(path, { method: "POST", body: JSON.stringify(body), headers });
}

async function eventsOf(daemon: DaemonProcess, run: string): Promise<readonly Event[]> {
  const headers = { accept: "application/x-ndjson" };
  const response = await daemon.ask(`/v1/runs/${run}/events?live=false`, { headers });
  return lines(await response.text()).flatMap(({ event }) => (event === undefined ? [] : [event as unknown as Event]));
}

const hasRemark = (request: { body: JsonObject }): boolean => JSON.stringify(request.body["messages"]).includes(REMARK);

test("words to a run survive a kill, are recorded once for their key, and the model answers with them in view", async (t) => {
  const model = await fakeOpenAi(hang, text("a draft of an answer"), text("without the drafts"));
  t.after(() => model.close());
  await using stage = await stageWith(model);
  let run = "";
  {
    await using daemon = await DaemonProcess.up(stage);
    const asked = model.next();
    run = await daemon.run("list the texts");
    await asked;
    const path = `/v1/runs/${run}/messages`;
    assert.equal((await post(daemon, path, { text: REMARK }, "k1")).status, 200);
    const said = await stage.run("say", run.slice(-8), REMARK, "--key", "k1");
    assert.deepEqual([said.code, said.stdout], [0, ""], said.stderr);
    await daemon.end("SIGKILL");
  }
  await using daemon = await DaemonProcess.up(stage);
  const events = await eventsOf(daemon, run);
  const path = `/v1/runs/${run}/messages`;
  assert.equal((await post(daemon, path, { text: REMARK }, "k1")).status, 200, "the same words again, after the end");
  const types = events.map(({ type }) => type);
  assert.equal(types.filter((type) => type === "remark.made").length, 1);
  assert.equal(types.filter((type) => type === "model.called").length, 2, "asked once more because of the words");
  assert.deepEqual(events.at(-1), { type: "run.finished", result: "without the drafts" });
  assert.deepEqual(model.requests.map(hasRemark), [false, false, true]);
});

test("words that are said while a tool runs come with its result, and nothing is cut off", async (t) => {
  const go = Promise.withResolvers<void>();
  const model = await fakeOpenAi(
    (response) =>
      void go.promise.then(() => calls({ id: "c1", name: "read_folder", input: `{"dir_path":"."}` })(response)),
    text("as you say"),
  );
  t.after(() => model.close());
  await using stage = await stageWith(model);
  await using daemon = await DaemonProcess.up(stage);
  const session = ((await (await post(daemon, "/agent/sessions", {})).json()) as { session_id: string }).session_id;
  const asked = model.next();
  const stream = await post(daemon, "/agent/generate", { session_id: session, prompt: "list the texts" });
  await asked;
  const told = await post(daemon, "/agent/say", { session_id: session, text: REMARK });
  const { ok, run_id: run } = (await told.json()) as { ok: boolean; run_id: string };
  assert.ok(ok);
  go.resolve();
  const seen = await stream.text();
  assert.ok(seen.includes(run));
  assert.match(seen, new RegExp(`"observe","note":"[^"]*says: ${REMARK}"`));
  const last = JSON.stringify(model.requests.at(-1)?.body["messages"]);
  assert.ok(last.indexOf(REMARK) > last.indexOf('"role":"tool"'), "the words follow the result");
});

test("words to a run that is over, of another owner or without an end are refused with what to do", async (t) => {
  const model = await fakeOpenAi(text("done"), textWith("still ", new Promise(() => undefined)));
  t.after(() => model.close());
  await using stage = await stageWith(model);
  await using daemon = await DaemonProcess.up(stage);
  const run = await daemon.run("one");
  assert.equal((await eventsOf(daemon, run)).at(-1)?.type, "run.finished");
  const over = await post(daemon, `/v1/runs/${run}/messages`, { text: "more" });
  const { thread } = (await (await daemon.ask(`/v1/runs/${run}`)).json()) as { thread: string };
  assert.equal(over.status, 409);
  assert.ok((await over.text()).includes(thread), "the answer names the thread to go on in");
  const late = await stage.run("say", run, "more");
  assert.equal(late.code, FAULTS.CONFLICT.exit, late.stderr);
  assert.ok(late.stderr.includes(`vidro run --thread ${thread}`), late.stderr);
  const open = await daemon.run("two");
  const path = `/v1/runs/${open}/messages`;
  assert.equal((await post(daemon, path, { text: " " })).status, 400);
  assert.equal((await post(daemon, path, { text: "x".repeat(20_000) })).status, 422);
  assert.equal((await post(daemon, path, {})).status, 422);
  const [made] = lines((await stage.run("tokens", "create", "--owner", "other", "--scopes", "runs", "--json")).stdout);
  const foreign = await fetch(daemon.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${String(made?.["token"])}`, "content-type": "application/json" },
    body: JSON.stringify({ text: "do as I say" }),
  });
  assert.equal(foreign.status, 404);
});
