import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

const TASK = "how much disk is free?";

test("runs are listed, shown and exported as the journal has them", async () => {
  await using stage = await Stage.set();
  const told = (await stage.run("run", "--json", TASK)).stdout;
  const run = String(lines(told)[0]?.["run_id"]);
  const listed = await stage.run("runs", "list");
  assert.match(
    listed.stdout,
    new RegExp(`^RUN +STATUS +STARTED +TASK\\n${run.slice(-8)} +finished .*${TASK.replace("?", "\\?")}\n$`),
  );
  assert.equal((await stage.run("runs", "list", "--open", "--json")).stdout, "");
  assert.equal((await stage.run("runs", "show", run, "--json")).stdout, told);
  assert.equal((await stage.run("runs", "show", "--last", "--json")).stdout, told);
  for (const args of [[], [run, "--last"]]) {
    const { code, stderr } = await stage.run("runs", "show", ...args);
    assert.equal(code, 2);
    assert.match(stderr, /Name the run, or give --last/);
  }
  assert.equal((await stage.run("runs", "export", run.slice(-6))).stdout, told);
  const file = join(stage.workspace, "run.ndjson");
  assert.equal((await stage.run("runs", "export", run, "--out", file)).code, 0);
  assert.equal(await readFile(file, "utf8"), told);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stage.run("runs", "export", run, "--out", file)).code, 2);
});

test("a run that was left open can be aborted, and only once", async () => {
  await using model = await scriptedModel(shellLine("true"), new Promise<string>(() => undefined));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const child = stage.start("run", "--json", "--yes", "wait");
  const run = await new Promise<string>((resolve) => {
    child.stdout.once("data", (chunk: Buffer) =>
      resolve(String(lines(chunk.toString("utf8").split("\n")[0] ?? "")[0]?.["run_id"])),
    );
  });
  const busy = await stage.run("runs", "abort", run);
  assert.equal(busy.code, 6);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("close", resolve));
  assert.equal((await stage.run("runs", "abort", run)).code, 0);
  assert.equal((await stage.run("runs", "abort", run)).code, 6);
  const attached = await stage.run("attach", "--json", run);
  assert.equal(attached.code, 130);
  assert.equal(lines(attached.stdout).at(-1)?.["code"], "ABORTED");
});

test("audit verify is content with a whole journal and names the entry that was altered", async () => {
  await using stage = await Stage.set();
  const run = String(lines((await stage.run("run", "--json", TASK)).stdout)[0]?.["run_id"]);
  const whole = await stage.run("audit", "verify");
  assert.deepEqual([whole.code, whole.stderr], [0, ""]);
  assert.match(whole.stdout, /^ok 1 run checked/);
  using database = new DatabaseSync(join(stage.home, "journal.db"));
  database.exec("UPDATE entry SET body = replace(body, 'step', 'stop') WHERE seq = 2");
  const broken = await stage.run("audit", "verify", run.slice(-8), "--json");
  assert.equal(broken.code, 1);
  assert.deepEqual([lines(broken.stdout)[0]?.["run_id"], lines(broken.stdout)[0]?.["broken_at"]], [run, 2]);
  assert.match((await stage.run("audit", "verify")).stdout, new RegExp(`broken ${run} at entry 2`));
});

test("doctor looks at everything and makes nothing", async () => {
  await using stage = await Stage.set();
  const { code, stdout } = await stage.run("doctor", "--json");
  assert.equal(code, 0);
  assert.deepEqual(
    lines(stdout).map(({ id }) => id),
    ["node", "home", "config", "store", "restored", "disk", "daemon", "sandbox", "model", "policy", "mcp", "terminal"],
  );
  for (const row of lines(stdout)) assert.deepEqual(Object.keys(row), ["id", "status", "summary", "fix"]);
  await assert.rejects(stat(stage.home));
});

test("doctor fails on what keeps runs from working, and warns of what others can read", async () => {
  await using stage = await Stage.set({ VIDRO_MODEL: "nobody/nothing" });
  await mkdir(stage.home, { mode: 0o755 });
  await writeFile(join(stage.home, "journal.db"), "this is no database at all, and never was");
  await writeFile(join(stage.home, "policy.json"), "{");
  const { code, stdout } = await stage.run("doctor", "--json");
  const status = Object.fromEntries(lines(stdout).map((row) => [row["id"], row["status"]]));
  assert.equal(code, 1);
  assert.deepEqual(
    [status["home"], status["store"], status["model"], status["policy"]],
    ["warn", "fail", "fail", "fail"],
  );
});

test("policy explain says what would happen by which rule, and runs nothing", async () => {
  await using stage = await Stage.set();
  const allowed = lines((await stage.run("policy", "explain", "--json", "--", "df", "-h")).stdout)[0];
  assert.deepEqual([allowed?.["decision"], allowed?.["rule"]], ["allow", "disk-space"]);
  const denied = await stage.run("policy", "explain", "--", "rm", "-rf", "/");
  assert.match(denied.stdout, /^deny rm -rf \/\n/);
  const asked = await stage.run("policy", "explain", "--shell", "--", "touch", "made");
  assert.match(asked.stdout, /^ask shell 'touch made'\n {2}rule +default/);
  await assert.rejects(stat(join(stage.workspace, "made")));
  assert.notEqual((await stage.run("policy", "explain", "--", "no-such-program")).code, 0);
});

test("policy check reads the shipped policy and refuses a broken one by name", async () => {
  await using stage = await Stage.set();
  assert.match((await stage.run("policy", "check")).stdout, /^ok the shipped policy: \d+ rules, \d+ examples tried/);
  const file = join(stage.workspace, "policy.json");
  await writeFile(file, '{"trusted":[],"secrets":[],"env":{},"rules":[{"id":"x"}]}');
  const broken = await stage.run("policy", "check", file, "--json");
  assert.equal(broken.code, 2);
  assert.equal(lines(broken.stdout)[0]?.["code"], "BAD_POLICY");
  assert.equal((await stage.run("policy", "check", "missing.json")).code, 3);
});

test("a slip of the pen gets a hint and never a stack", async () => {
  await using stage = await Stage.set();
  const slips = [
    [["rnu", "x"], /unknown command 'rnu'\. Did you mean run\?/],
    [["run", "--jsn", "x"], /unknown option '--jsn'\. Did you mean --json\?/],
    [["runs", "lst"], /unknown command 'lst'\. Did you mean list\?/],
    [["run"], /missing required argument 'task'/],
    [["runs"], /a sub-command is missing/],
    [["help", "nonsense"], /unknown command 'nonsense'/],
    [["run", "--workspace", "nowhere", "x"], /There is no folder nowhere/],
    [["run", "--max-steps", "many", "x"], /whole number/],
    [["run", "   "], /A run needs a task/],
  ] as const;
  for (const [args, hint] of slips) {
    const { code, stderr } = await stage.run(...args);
    assert.equal(code, 2);
    assert.match(stderr, hint);
    assert.match(stderr, /\n {2}next: /);
    assert.doesNotMatch(stderr, /\n {4}at /);
  }
});

test("version and help go to stdout; without a terminal and a command, help goes to stderr", async () => {
  await using stage = await Stage.set();
  assert.match((await stage.run("--version")).stdout, /^\d+\.\d+\.\d+\n$/);
  const help = await stage.run("help");
  assert.deepEqual([help.code, help.stderr], [0, ""]);
  assert.match(help.stdout, /vidro run "how much disk/);
  assert.match((await stage.run("help", "run")).stdout, /--max-steps/);
  const alone = await stage.run();
  assert.deepEqual([alone.code, alone.stdout], [2, ""]);
  assert.match(alone.stderr, /Usage: vidro/);
});

test("policy add and remove change rules beside the shipped ones, and refuse what would have no effect", async () => {
  await using stage = await Stage.set();
  const decision = async (): Promise<unknown> =>
    lines((await stage.run("policy", "explain", "--json", "--", "touch", "made")).stdout)[0]?.["decision"];
  assert.equal(await decision(), "ask");
  const added = await stage.run("policy", "add", "allow", "--why", "it is harmless", "--", "touch", "made");
  assert.equal(added.code, 0, added.stderr);
  assert.equal(await decision(), "allow");
  const shown = (await stage.run("policy", "show")).stdout.split("\n");
  assert.match(shown[0] ?? "", /DECISION +RULE +CLASS +ABOUT/);
  assert.match(shown[1] ?? "", /^\+ allow +allow-touch-made +write +touch made$/);
  assert.ok(shown.some((row) => row.includes("no-tree-removal")));
  const denied = await stage.run("policy", "add", "allow", "--", "rm", "-rf", "/");
  assert.equal(denied.code, 2);
  assert.match(denied.stderr, /no-tree-removal says deny/);
  for (const [folder, remedy] of [
    [stage.workspace, / is not in a trusted folder\. Nothing was added\.$/m],
    [
      dirname(stage.workspace),
      /Where you trust that folder, \S+policy\.json says so: \{"extends":"shipped","trusted":\["\S+\/\*"\]/,
    ],
  ] as const) {
    await writeFile(join(folder, "own-tool"), "#!/bin/sh\n", { mode: 0o755 });
    const own = await stage.run("policy", "add", "allow", "--", join(folder, "own-tool"));
    assert.equal(own.code, 2);
    assert.match(own.stderr, remedy);
  }
  assert.equal((await stage.run("policy", "remove", "cat")).code, 2);
  assert.match((await stage.run("policy", "remove", "allow-touch-mad")).stderr, /Did you mean allow-touch-made\?/);
  assert.equal((await stage.run("policy", "remove", "allow-touch-made")).code, 0);
  assert.equal(await decision(), "ask");
});
