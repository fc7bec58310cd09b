import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { ended, lines, Stage } from "../stage.fixture.ts";

test("off a terminal a run is NDJSON: every entry in its place, the terminal event last", async () => {
  await using stage = await Stage.set();
  const { code, stdout } = await stage.run("run", "how", "much", "disk", "is", "free?");
  const told = lines(stdout);
  assert.equal(code, 0);
  assert.deepEqual(
    told.map(({ seq }) => seq),
    told.map((_, index) => index + 1),
  );
  assert.equal(told[0]?.["event"], "run.started");
  assert.equal(told[0]?.body["task"], "how much disk is free?");
  assert.equal(told.at(-1)?.["type"], "result");
});

test("without a person to approve, the action is refused and the run goes on", async () => {
  await using model = await scriptedModel(shellLine("touch made"), doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout } = await stage.run("run", "--json", "make a file");
  const answered = lines(stdout).find(({ event }) => event === "question.answered");
  assert.equal(code, 0);
  assert.match(JSON.stringify(answered?.["body"]), /"answer":"no","by":"nobody"/);
  assert.equal(existsSync(join(stage.workspace, "made")), false);
});

test("--yes approves what is asked and nothing that is denied", async () => {
  const denied = JSON.stringify({ action: "use_tool", name: "command", args: { command: "rm", args: ["-rf", "/"] } });
  await using model = await scriptedModel(shellLine("touch made"), denied, doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout } = await stage.run("run", "--json", "--yes", "make a file, then end the world");
  assert.equal(code, 0);
  assert.equal(existsSync(join(stage.workspace, "made")), true);
  const refused = lines(stdout).find(({ event }) => event === "action.failed");
  assert.deepEqual(refused?.body["fault"], { code: "POLICY_DENIED", message: refused?.["description"] });
});

test("a question without a person gets an empty answer, and the model is told so", async () => {
  const ask = JSON.stringify({ action: "ask", question: "Which one?", options: ["red", "blue"] });
  await using model = await scriptedModel(ask, doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code } = await stage.run("run", "choose");
  assert.equal(code, 0);
  assert.match(model.calls[1] ?? "", /No answer came/);
});

test("live events are told only with --verbose, without a seq", async () => {
  await using model = await scriptedModel(shellLine("echo to-be-seen", "read"), "well");
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const silent = lines((await stage.run("run", "--yes", "echo")).stdout);
  assert.equal(
    silent.some(({ event }) => event === "action.output"),
    false,
  );
  const told = lines((await stage.run("run", "--yes", "--verbose", "echo again")).stdout);
  assert.equal(
    told.some(({ event }) => event === "model.delta"),
    true,
  );
  assert.equal(
    told.filter(({ event }) => event === "model.delta").some((line) => "seq" in line),
    false,
  );
});

test("the same key gives the same run", async () => {
  await using stage = await Stage.set();
  const first = await stage.run("run", "--key", "once", "how much disk is free?");
  const second = await stage.run("run", "--key", "once", "how much disk is free?");
  assert.equal(second.stdout, first.stdout);
  assert.match(second.stderr, /This key belongs to run_/);
});

test("a task comes from stdin when it is a dash", async () => {
  await using stage = await Stage.set();
  const child = stage.start("run", "-");
  child.stdin.end("how much disk\nis free?");
  const { code, stdout } = await ended(child);
  assert.equal(code, 0);
  assert.equal(lines(stdout)[0]?.body["task"], "how much disk\nis free?");
});

test("a task that cannot be one is refused with a line for programs and words for people", async () => {
  await using stage = await Stage.set();
  const refused = async (input: string | Buffer): Promise<string> => {
    const child = stage.start("run", "-");
    child.stdin.end(input);
    const { code, stdout, stderr } = await ended(child);
    assert.equal(code, 2);
    assert.match(stderr, /^vidro: .+\n {2}next: .+\n$/);
    assert.equal(lines(stdout).length, 1);
    return String(lines(stdout)[0]?.["code"]);
  };
  assert.equal(await refused(Buffer.from([0xff, 0xfe, 0x80])), "BAD_REQUEST");
  assert.equal(await refused(""), "BAD_REQUEST");
  assert.equal(await refused("x".repeat(300_000)), "PAYLOAD_TOO_LARGE");
  assert.equal(await refused("x".repeat(3_000_000)), "PAYLOAD_TOO_LARGE");
});

test("a run that fails exits with the code of its fault and says what to do", async () => {
  await using model = await scriptedModel(JSON.stringify({ action: "observe", summary: "hm" }));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout, stderr } = await stage.run("run", "--max-steps", "2", "never end");
  assert.equal(code, 1);
  assert.deepEqual([lines(stdout).at(-1)?.["type"], lines(stdout).at(-1)?.["code"]], ["error", "STEP_LIMIT"]);
  assert.match(stderr, /vidro: The run took as many steps as it may\.\n {2}next: .*--max-steps/);
});

test("a model that is not there is told before there is a run", async () => {
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: "http://127.0.0.1:9/v1" });
  const { code, stdout, stderr } = await stage.run("run", "anything");
  assert.equal(code, 7);
  assert.equal(lines(stdout)[0]?.["code"], "MODEL_UNAVAILABLE");
  assert.match(stderr, /vidro: The model cannot be reached\.\n {2}why: .+\n {2}next: .*vidro doctor/);
});

test("a home that cannot be made is a clear fault", async () => {
  await using stage = await Stage.set({ VIDRO_HOME: "/dev/null/vidro" });
  const { code, stdout, stderr } = await stage.run("run", "anything");
  assert.equal(code, 1);
  assert.equal(lines(stdout)[0]?.["code"], "STORE_UNREADABLE");
  assert.match(stderr, /\/dev\/null\/vidro/);
});

test("several runs at once share one home", async () => {
  await using stage = await Stage.set();
  const all = await Promise.all([1, 2, 3].map((_, index) => stage.run("run", `how much disk is free? ${index}`)));
  for (const { code, stdout } of all) {
    assert.equal(code, 0);
    assert.equal(lines(stdout).at(-1)?.["type"], "result");
  }
  const listed = await stage.run("runs", "list", "--json");
  assert.equal(lines(listed.stdout).length, 3);
});
