import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { ended, lines, Stage } from "../stage.fixture.ts";

test("off a terminal the answer is text on stdout, and progress, with the brain first, is text on stderr", async () => {
  await using model = await scriptedModel(`look\n${shellLine("echo seen", "read")}`, doneLine("# all is **well**"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout, stderr } = await stage.run("run", "look at it");
  assert.deepEqual([code, stdout], [0, "# all is **well**\n"]);
  assert.match(stderr, /^brain: inside this command\n▸ look at it\n[^]*✓ echo seen · exit 0 [^]*2 steps · 1 action/);
  const shown = await stage.run(
    "runs",
    "show",
    String(lines((await stage.run("runs", "list", "--json")).stdout)[0]?.["run_id"]),
  );
  assert.match(shown.stdout, /^▸ look at it\n[^]*✓ echo seen[^]*\n# all is \*\*well\*\*\n/);
});

test("with --json a run is NDJSON: every entry in its place, the terminal event last", async () => {
  await using stage = await Stage.set();
  const { code, stdout } = await stage.run("run", "--json", "how", "much", "disk", "is", "free?");
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

test("without a person to approve, the action is not done, no person is said to have refused, and the code is 5", async () => {
  await using model = await scriptedModel(
    shellLine("touch made"),
    doneLine("well"),
    shellLine("touch made"),
    doneLine("well"),
  );
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout } = await stage.run("run", "--json", "make a file");
  const answered = lines(stdout).find(({ event }) => event === "question.answered");
  assert.equal(code, 5);
  assert.match(JSON.stringify(answered?.["body"]), /"answer":"no: no person could be asked"/);
  assert.match(model.calls[1] ?? "", /no person could be asked/);
  assert.doesNotMatch(model.calls[1] ?? "", /A person said no/);
  const said = await stage.run("run", "make it");
  assert.match(said.stderr, /⊘ touch made: .*no person could be asked[^]*next: .*--yes/);
  assert.equal(existsSync(join(stage.workspace, "made")), false);
});

test("--yes approves what is asked and nothing that is denied", async () => {
  const denied = JSON.stringify({ action: "use_tool", name: "command", args: { command: "rm", args: ["-rf", "/"] } });
  await using model = await scriptedModel(shellLine("touch made"), denied, doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code, stdout } = await stage.run("run", "--json", "--yes", "make a file, then end the world");
  assert.equal(code, 5);
  assert.equal(existsSync(join(stage.workspace, "made")), true);
  const refused = lines(stdout).find(({ event }) => event === "action.failed");
  assert.deepEqual(refused?.body["fault"], { code: "POLICY_DENIED", message: refused?.["description"] });
});

test("a question without a person is not answered, and the model is told so", async () => {
  const ask = JSON.stringify({ action: "ask", question: "Which one?", options: ["red", "blue"] });
  await using model = await scriptedModel(ask, doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const { code } = await stage.run("run", "choose");
  assert.equal(code, 0);
  assert.match(model.calls[1] ?? "", /No person could be asked/);
});

test("live events are told only with --verbose, without a seq", async () => {
  await using model = await scriptedModel(shellLine("echo to-be-seen", "read"), "well");
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const silent = lines((await stage.run("run", "--json", "--yes", "echo")).stdout);
  assert.equal(
    silent.some(({ event }) => event === "action.output"),
    false,
  );
  const told = lines((await stage.run("run", "--json", "--yes", "--verbose", "echo again")).stdout);
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
  const first = await stage.run("run", "--json", "--key", "once", "how much disk is free?");
  const second = await stage.run("run", "--json", "--key", "once", "how much disk is free?");
  assert.equal(second.stdout, first.stdout);
  assert.match(second.stderr, /This key belongs to run_/);
});

test("a task comes from stdin when it is a dash", async () => {
  await using stage = await Stage.set();
  const child = stage.start("run", "--json", "-");
  child.stdin.end("how much disk\nis free?");
  const { code, stdout } = await ended(child);
  assert.equal(code, 0);
  assert.equal(lines(stdout)[0]?.body["task"], "how much disk\nis free?");
});

test("a task that cannot be one is refused with a line for programs and words for people", async () => {
  await using stage = await Stage.set();
  const refused = async (input: string | Buffer): Promise<string> => {
    const child = stage.start("run", "--json", "-");
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
  const { code, stdout, stderr } = await stage.run("run", "--json", "--max-steps", "2", "never end");
  assert.equal(code, 1);
  assert.deepEqual([lines(stdout).at(-1)?.["type"], lines(stdout).at(-1)?.["code"]], ["error", "STEP_LIMIT"]);
  assert.match(stderr, /vidro: The run took as many steps as it may\.\n {2}next: .*--max-steps/);
});

test("a model that is not there is told before there is a run", async () => {
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: "http://127.0.0.1:9/v1" });
  const { code, stdout, stderr } = await stage.run("run", "--json", "anything");
  assert.equal(code, 7);
  assert.equal(lines(stdout)[0]?.["code"], "MODEL_UNAVAILABLE");
  assert.match(stderr, /vidro: The model cannot be reached\.\n {2}why: .+\n {2}next: .*vidro doctor/);
});

test("a home that cannot be made is a clear fault", async () => {
  await using stage = await Stage.set({ VIDRO_HOME: "/dev/null/vidro" });
  const { code, stdout, stderr } = await stage.run("run", "--json", "anything");
  assert.equal(code, 1);
  assert.equal(lines(stdout)[0]?.["code"], "STORE_UNREADABLE");
  assert.match(stderr, /\/dev\/null\/vidro/);
});

test("several runs at once share one home", async () => {
  await using stage = await Stage.set();
  const all = await Promise.all(
    [1, 2, 3].map((_, index) => stage.run("run", "--json", `how much disk is free? ${index}`)),
  );
  for (const { code, stdout } of all) {
    assert.equal(code, 0);
    assert.equal(lines(stdout).at(-1)?.["type"], "result");
  }
  const listed = await stage.run("runs", "list", "--json");
  assert.equal(lines(listed.stdout).length, 3);
});

test("the exit code says what became of the task: failed 1, not understood 1, looked and found nothing 0", async () => {
  const cases = [
    [shellLine("exit 3"), doneLine("the tests fail"), 1],
    [shellLine("grep -q nothing /dev/null", "read"), doneLine("there is none"), 0],
    [shellLine("true"), JSON.stringify({ action: "done", result: "I could not", success: false }), 1],
  ] as const;
  for (const [first, last, expected] of cases) {
    await using model = await scriptedModel(first, last);
    await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
    assert.equal((await stage.run("run", "--yes", "do it")).code, expected, first);
  }
  await using stage = await Stage.set();
  assert.equal((await stage.run("run", "compose a sonnet about glass")).code, 1);
  const missing = await stage.run("run", "is frobnicate installed?");
  assert.deepEqual([missing.code, missing.stdout], [0, "frobnicate is not installed here.\n"]);
  assert.match(missing.stderr, /^✓ which frobnicate · exit 1 [^]*^✓ Look for frobnicate$/m);
});
