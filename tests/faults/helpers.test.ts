import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { TestContext } from "node:test";
import { Stage } from "../../packages/cli/src/stage.fixture.ts";
import { DaemonProcess, until } from "../support/daemon-process.ts";
import { calls, fakeOpenAi, text } from "../support/fake-openai.ts";
import type { FakeAnswer, FakeOpenAi } from "../support/fake-openai.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { processesIn } from "../support/processes.ts";

/* Helpers at brains that are killed: the same helper is taken up, and an abort reaches it at any brain. */

const server = await startPostgres();
after(() => server.close());

interface Head {
  readonly id: string;
  readonly status: string;
  readonly parent?: string;
  readonly helpers?: readonly { readonly id: string; readonly status: string; readonly task: string }[];
}

const call = (name: string, input: object) => calls({ id: "c1", name, input: JSON.stringify(input) });

/** A model whose parent run delegates two tasks, each of which runs a command that takes a while. */
async function delegatingModel(t: TestContext, seconds: number): Promise<FakeOpenAi> {
  const answer: FakeAnswer = (response, request) => {
    const prompt = JSON.stringify(request.body["messages"]);
    const hasOutcome = prompt.includes('"role":"tool"');
    const [, word] = /effect (one|two)/.exec(prompt) ?? [];
    const isParent = prompt.includes("have two effects");
    const command = `echo ${word} >> effects.txt; sleep ${seconds}; echo ${word} >> ends.txt`;
    if (hasOutcome) return text(isParent ? "both are there" : "done")(response);
    const tasks = ["effect one", "effect two"].map((task) => ({ task }));
    if (isParent) return call("delegate", { tasks })(response);
    return call("shell", { command, access: "host" })(response);
  };
  const model = await fakeOpenAi(answer);
  t.after(() => model.close());
  return model;
}

async function headAt(brain: DaemonProcess, run: string): Promise<Head> {
  return (await (await brain.ask(`/v1/runs/${run}`)).json()) as Head;
}

/** Starts the run at a brain and says yes to each helper, here or at another brain; gives parent and helpers. */
async function begin(brain: DaemonProcess, asked = brain): Promise<{ run: string; helpers: readonly string[] }> {
  const run = await brain.run("have two effects");
  await until("both helpers ask", async () => {
    const { helpers = [] } = await headAt(asked, run);
    return helpers.length === 2 && helpers.every(({ status }) => status === "asking");
  });
  const { helpers = [] } = await headAt(asked, run);
  for (const { id } of helpers) {
    assert.equal((await headAt(asked, id)).parent, run);
    const said = await asked.ask(`/v1/runs/${id}/answers`, { method: "POST", body: JSON.stringify({ answer: "yes" }) });
    assert.equal(said.status, 200, await said.text());
  }
  return { run, helpers: helpers.map(({ id }) => id) };
}

function nameOf(pid: number): string {
  const file = `/proc/${pid}/comm`;
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
}

function linesIn(stage: Stage, name: string): readonly string[] {
  const file = join(stage.workspace, name);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).toSorted() : [];
}

test("a brain that is killed while helpers work takes up the same helpers, and no effect is doubled", async (t) => {
  const model = await delegatingModel(t, 2);
  await using stage = await Stage.set({ VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url });
  let brain = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  try {
    const { run, helpers } = await begin(brain);
    await until("both work", () => linesIn(stage, "effects.txt").length === 2);
    await brain.end("SIGKILL");
    brain = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
    // What the hand cannot know is asked about in the helper; the parent waits for it.
    await until("the run is over", async () => {
      const { status, helpers: now = [] } = await headAt(brain, run);
      for (const { id } of now.filter((one) => one.status === "asking"))
        await brain.ask(`/v1/runs/${id}/answers`, { method: "POST", body: JSON.stringify({ answer: "continue" }) });
      return status === "finished";
    });
    const { helpers: ended = [] } = await headAt(brain, run);
    assert.deepEqual(
      ended.map(({ id, status }) => [id, status]),
      helpers.map((id) => [id, "finished"]),
    );
    assert.deepEqual(linesIn(stage, "effects.txt"), ["one", "two"]);
    const { runs } = (await (await brain.ask("/v1/runs")).json()) as { runs: Head[] };
    assert.equal(runs.length, 3);
  } finally {
    await brain.end("SIGKILL");
  }
});

test("with two brains on one store a helper is answered at either, and an abort at the other one ends all of them", async (t) => {
  const model = await delegatingModel(t, 600);
  const env = { VIDRO_STORE: server.storeUrl("helpers"), VIDRO_MODEL: "fake", VIDRO_MODEL_URL: model.url };
  await using stage = await Stage.set(env);
  await using other = await Stage.set(env);
  await using driving = await DaemonProcess.up(stage, { flags: ["--port", "0"] });
  await using asked = await DaemonProcess.up(other, { flags: ["--port", "0", "--no-local-hand"] });
  const { run, helpers } = await begin(driving, asked);
  await until("both work", () => linesIn(stage, "effects.txt").length === 2);
  const stopped = await asked.ask(`/v1/runs/${run}/abort`, { method: "POST", body: "{}" });
  assert.equal(stopped.status, 200, await stopped.text());
  for (const id of [run, ...helpers])
    await until(`${id} is over`, async () => (await headAt(asked, id)).status === "aborted");
  await until("no process is left", () => !processesIn(stage.workspace).some((pid) => nameOf(pid) === "sleep"));
  assert.deepEqual(linesIn(stage, "ends.txt"), []);
});
