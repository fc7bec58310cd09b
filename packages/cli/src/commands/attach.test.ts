import assert from "node:assert/strict";
import { once } from "node:events";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { ended, lines, Stage } from "../stage.fixture.ts";

/** Waits until the command has told of an event, and gives the run's id. */
async function told(child: ChildProcessWithoutNullStreams, event: string): Promise<string> {
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = lines(line)[0];
    if (entry?.["event"] === event) return String(entry["run_id"]);
  }
  throw new Error(`The command ended without ${event}.`);
}

/** A model whose second answer comes when it is told to. */
async function waitingModel() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const model = await scriptedModel(shellLine("true", "read"), promise);
  return { model, goOn: () => resolve(doneLine("at last")) };
}

test("a run whose process was killed goes on under attach, from where it was", async () => {
  const { model, goOn } = await waitingModel();
  await using _ = model;
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "wait for it");
  await told(child, "action.finished");
  child.kill("SIGKILL");
  await once(child, "exit");
  goOn();
  const { code, stdout } = await stage.run("attach", "--last", "--json");
  assert.equal(code, 0);
  assert.equal(lines(stdout)[0]?.["seq"], 1);
  assert.equal(lines(stdout).filter(({ event }) => event === "action.started").length, 1);
  assert.equal(lines(stdout).at(-1)?.["data"], "at last");
});

test("an action that was cut by a kill is never run again: exit 9 without a person to ask", async () => {
  await using model = await scriptedModel(shellLine("echo begun >> count; sleep 60"), doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "do it once");
  const run = await told(child, "action.started");
  await stage.holds("count");
  child.kill("SIGKILL");
  await once(child, "exit");
  const { code, stdout } = await stage.run("attach", run.slice(-12), "--json");
  assert.equal(code, 9);
  assert.equal(
    lines(stdout).some(({ event }) => event === "action.unknown"),
    true,
  );
  assert.equal(lines(stdout).at(-1)?.["code"], "OUTCOME_UNKNOWN");
});

test("SIGTERM leaves the run open and says how to go on", async () => {
  const { model, goOn } = await waitingModel();
  await using _ = model;
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "wait for it");
  const over = ended(child);
  child.stdout.once("data", () => child.kill("SIGTERM"));
  const { code, stderr } = await over;
  assert.equal(code, 143);
  assert.match(stderr, /vidro attach run_/);
  goOn();
  assert.equal((await stage.run("attach", "--json", "--last")).code, 0);
});

test("SIGINT without a terminal aborts the run, and the last line says so", async () => {
  const { model } = await waitingModel();
  await using _ = model;
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "wait for it");
  const over = ended(child);
  child.stdout.once("data", () => child.kill("SIGINT"));
  const { code, stdout } = await over;
  assert.equal(code, 130);
  assert.equal(lines(stdout).at(-1)?.["code"], "ABORTED");
});

test("a reader that goes away leaves the run open, without a stack", async () => {
  const { model, goOn } = await waitingModel();
  await using _ = model;
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "wait for it");
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  await once(child.stdout, "data");
  child.stdout.destroy();
  goOn();
  const [code] = (await once(child, "close")) as [number];
  // It may be over before anybody notices that nothing is read any more.
  assert.equal(code, 141, stderr);
  assert.match(stderr, /^vidro: the run is .+\n/);
  assert.doesNotMatch(stderr, / at /);
  assert.equal((await stage.run("attach", "--json", "--last")).code, 0);
});

test("a run that another process drives is only followed, to the same end", async () => {
  const { model, goOn } = await waitingModel();
  await using _ = model;
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const driver = stage.start("run", "--json", "--yes", "wait for it");
  const driven = ended(driver);
  await once(driver.stdout, "data");
  const follower = stage.start("attach", "--json", "--last");
  const followed = ended(follower);
  await once(follower.stdout, "data");
  goOn();
  assert.equal((await followed).stdout, (await driven).stdout);
  assert.deepEqual([(await followed).code, (await driven).code], [0, 0]);
});

test("a follower takes over when the driving process dies", async () => {
  const { model, goOn } = await waitingModel();
  await using _ = model;
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const driver = stage.start("run", "--json", "--yes", "wait for it");
  await told(driver, "action.finished");
  const follower = stage.start("attach", "--json", "--last");
  const followed = ended(follower);
  await once(follower.stdout, "data");
  driver.kill("SIGKILL");
  goOn();
  const { code, stdout } = await followed;
  assert.equal(code, 0);
  assert.deepEqual(
    lines(stdout).map(({ seq }) => seq),
    lines(stdout).map((_line, index) => index + 1),
  );
});

test("--after gives only what comes after", async () => {
  await using stage = await Stage.set();
  const whole = lines((await stage.run("run", "--json", "how much disk is free?")).stdout);
  const rest = lines((await stage.run("attach", "--json", "--last", "--after", "3")).stdout);
  assert.deepEqual(rest, whole.slice(3));
  for (const after of [whole.length, whole.length + 9]) {
    const none = await stage.run("attach", "--json", "--last", "--after", String(after));
    assert.deepEqual([none.code, none.stdout], [0, ""]);
  }
});

test("a run that is not named, too shortly named or not there is told by name", async () => {
  await using stage = await Stage.set();
  assert.equal((await stage.run("attach")).code, 2);
  assert.equal((await stage.run("attach", "--json", "--last")).code, 3);
  assert.equal((await stage.run("attach", "abc")).code, 2);
  const missing = await stage.run("attach", "abcdef");
  assert.equal(missing.code, 3);
  assert.match(missing.stderr, /No run has an id that ends with abcdef\.\n {2}next: .*vidro runs list/);
});
