import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Entry, JsonObject, ModelReply } from "@vidro/core";
import { openPolicy, openReloadablePolicy } from "@vidro/hands";
import type { FollowItem } from "../../packages/brain/src/run/follow.ts";
import { reviewAlways } from "../../packages/brain/src/run/always-review.ts";
import { openStore } from "../../packages/brain/src/stores/stores.ts";
import { DEFAULT_POLICY } from "../../packages/hands/src/policy/default-policy.ts";
import { scriptedModel } from "../support/scenario.ts";
import { finishRun, openRuns, temporaryFolder } from "../support/local-runs.ts";
import { judged, perform, target } from "./attack.fixture.ts";
import type { Target } from "./attack.fixture.ts";

/*
 * An approval is for one plan: what a person read is what runs, once, or nothing does. The class of CVE-2026-32921 (a
 * script rewritten after the approval) and CVE-2026-32065 (what was shown is not what runs).
 */

/** Ways to run a script that a person may approve; each must notice that the script is another by now. */
const RUNNERS: readonly (readonly [string, JsonObject])[] = [
  ["command", { command: "./job.sh" }],
  ["command", { command: "sh", args: ["job.sh"] }],
  ["command", { command: "bash", args: ["-c", "./job.sh now"] }],
  ["command", { command: "env", args: ["X=1", "./job.sh"] }],
  ["command", { command: "env", args: ["-S", "sh job.sh"] }],
  ["command", { command: "timeout", args: ["5", "sh", "./job.sh"] }],
  ["command", { command: "find", args: [".", "-maxdepth", "0", "-exec", "./job.sh", ";"] }],
  ["command", { command: "setsid", args: ["-w", "sh", "job.sh"] }],
  ["shell", { command: "./job.sh" }],
  ["shell", { command: "echo begin; sh job.sh && echo end" }],
  ["shell", { command: ". ./job.sh" }],
  ["shell", { command: 'X="$(./job.sh)"' }],
  ["shell", { command: "./job.sh", access: "workspace" }],
];

const GOOD = "#!/bin/sh\necho good > result\n";
const EVIL = "#!/bin/sh\necho evil > result\n";

function resultOf(at: Target): string | undefined {
  const path = join(at.workspace, "result");
  const text = existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
  rmSync(path, { force: true });
  return text;
}

for (const [tool, input] of RUNNERS) {
  test(`a script that is rewritten after the approval of ${tool} ${JSON.stringify(input)} does not run`, async (t) => {
    const at = await target(t);
    at.put("job.sh", GOOD);
    const { hash, verdict } = await judged(at.hand, tool, input);
    assert.equal(verdict.decision, "ask");
    at.put("job.sh", EVIL);
    assert.equal((await perform(at.hand, tool, input, hash)).fault, "PLAN_CHANGED");
    assert.equal(resultOf(at), undefined);
    at.put("job.sh", GOOD);
    assert.equal((await perform(at.hand, tool, input, hash)).fault, undefined);
    assert.equal(resultOf(at), "good", "what was approved runs");
  });
}

test("a program or a folder that is another by now is noticed, though its name is the same", async (t) => {
  const at = await target(t);
  at.put("good.sh", GOOD);
  at.put("evil.sh", EVIL);
  const link = join(at.workspace, "tool");
  symlinkSync("good.sh", link);
  const program = await judged(at.hand, "command", { command: "./tool" });
  rmSync(link);
  symlinkSync("evil.sh", link);
  assert.equal((await perform(at.hand, "command", { command: "./tool" }, program.hash)).fault, "PLAN_CHANGED");
  mkdirSync(join(at.workspace, "one"));
  mkdirSync(join(at.workspace, "two"));
  symlinkSync("one", join(at.workspace, "where"));
  for (const [tool, input] of [
    ["command", { command: "touch", args: ["x"], cwd: "where" }],
    ["shell", { command: "touch x", dir_path: "where" }],
  ] as const) {
    const folder = await judged(at.hand, tool, input);
    rmSync(join(at.workspace, "where"));
    symlinkSync("two", join(at.workspace, "where"));
    assert.equal((await perform(at.hand, tool, input, folder.hash)).fault, "PLAN_CHANGED");
    rmSync(join(at.workspace, "where"));
    symlinkSync("one", join(at.workspace, "where"));
  }
  assert.equal(resultOf(at), undefined);
});

test("an approval is for these very words, this tool, this time and this access", async (t) => {
  const at = await target(t);
  at.put("a", "");
  at.put("b", "");
  const { hash } = await judged(at.hand, "command", { command: "rm", args: ["a", "b"] });
  const others: readonly (readonly [string, JsonObject])[] = [
    ["command", { command: "rm", args: ["a b"] }],
    ["command", { command: "rm", args: ["b", "a"] }],
    ["command", { command: "rm", args: ["a", "b", ""] }],
    ["command", { command: "rm", args: ["a", "b\u200b"] }],
    ["command", { command: "/bin/rm", args: ["a", "b"] }],
    ["command", { command: "rm", args: ["a", "b"], timeout_ms: 1000 }],
    ["shell", { command: "rm a b" }],
  ];
  for (const [tool, input] of others)
    assert.equal((await perform(at.hand, tool, input, hash)).fault, "PLAN_CHANGED", JSON.stringify(input));
  assert.ok(existsSync(join(at.workspace, "a")) && existsSync(join(at.workspace, "b")));
  const narrow = await judged(at.hand, "shell", { command: "rm a", access: "workspace" });
  assert.equal(
    (await perform(at.hand, "shell", { command: "rm a", access: "host" }, narrow.hash)).fault,
    "PLAN_CHANGED",
  );
  assert.ok(existsSync(join(at.workspace, "a")));
});

test("an approval under one policy is none under another, and what is denied cannot be approved", async (t) => {
  const at = await target(t);
  at.put("a", "");
  const input = { command: "rm", args: ["a"] };
  const { hash } = await judged(at.hand, "command", input);
  const file = join(at.state, "own.json");
  writeFileSync(file, JSON.stringify({ ...DEFAULT_POLICY, secrets: [...DEFAULT_POLICY.secrets, "/opt/kept"] }));
  const policy = openPolicy({ file, workspace: at.workspace, state: at.state });
  const other = await target(t, { policy, workspace: at.workspace, state: join(at.state, "other") });
  assert.equal((await perform(other.hand, "command", input, hash)).fault, "PLAN_CHANGED");
  assert.ok(existsSync(join(at.workspace, "a")));
  const shadow = { command: "cp", args: ["/etc/shadow", "x"] };
  const denied = await judged(at.hand, "command", shadow);
  assert.equal((await perform(at.hand, "command", shadow, denied.hash)).fault, "POLICY_DENIED");
  assert.equal(existsSync(join(at.workspace, "x")), false);
});

test("a policy file that cannot be read stops the hand, and the shipped policy does not take its place", async (t) => {
  const { workspace, state } = await target(t);
  const open = (file: string) => () => openPolicy({ file, workspace, state });
  symlinkSync(join(state, "nowhere"), join(state, "dangling.json"));
  writeFileSync(join(state, "torn.json"), '{"rules":[');
  mkdirSync(join(state, "folder.json"));
  for (const name of ["dangling.json", "torn.json", "folder.json", "token/policy.json"])
    assert.throws(open(join(state, name)), { code: "BAD_POLICY" }, name);
});

/** A model that wants the same thing twice. */
function insistent(input: JsonObject): readonly ModelReply[] {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const call = (id: string): ModelReply => ({
    model: "scripted",
    text: "",
    calls: [{ id, tool: "shell", input }],
    usage,
  });
  return [call("c1"), call("c1"), { model: "scripted", text: "Done.", calls: [], usage }];
}

async function watched(follow: AsyncIterable<FollowItem>): Promise<readonly Entry[]> {
  return (await Array.fromAsync(follow)).flatMap((followed) => ("entry" in followed ? [followed.entry] : []));
}

/** Lets that model loose; the answers are a person's, and undefined is one who is away. */
async function runWith(
  t: Parameters<typeof target>[0],
  answers: readonly string[] | undefined,
): Promise<{ readonly marks: string; readonly asked: number; readonly faults: readonly string[] }> {
  const at = await target(t);
  const { journal } = await openStore("sqlite", join(temporaryFolder(t), "journal.db"));
  t.after(() => journal.close());
  const model = scriptedModel(insistent({ command: "echo ran >> marks" }));
  const runs = openRuns({ journal, model, hand: at.hand });
  const budget = answers === undefined ? { answerMs: 50 } : {};
  const { run } = await runs.start({ task: "do it", workspace: at.workspace, budget });
  const entries = answers === undefined ? await watched(runs.follow(run.id)) : await finishRun(runs, run.id, answers);
  const events = entries.map(({ event }) => event);
  const marks = join(at.workspace, "marks");
  return {
    marks: existsSync(marks) ? readFileSync(marks, "utf8") : "",
    asked: events.filter(({ type }) => type === "question.asked").length,
    faults: events.flatMap((event) => (event.type === "action.failed" ? [event.fault.code] : [])),
  };
}

test("an approval is used once: the same action again is asked again, whatever the model calls it", async (t) => {
  assert.deepEqual(await runWith(t, ["yes", "no"]), { marks: "ran\n", asked: 2, faults: ["APPROVAL_DENIED"] });
});

test("a yes for this run covers the same plan again, and the start of it names the question", async (t) => {
  assert.deepEqual(await runWith(t, ["yes, for this run"]), { marks: "ran\nran\n", asked: 1, faults: [] });
});

test("always adds the narrowest rule: the same plan is asked about in no run any more, another one is, and it is shown what it covers", async (t) => {
  const at = await target(t);
  const file = join(at.state, "policy.json");
  const policy = openReloadablePolicy({ file, workspace: at.workspace, state: at.state });
  const options = { policy, additions: policy.additions, workspace: at.workspace, state: join(at.state, "other") };
  const { hand } = await target(t, options);
  const { journal } = await openStore("sqlite", join(temporaryFolder(t), "journal.db"));
  t.after(() => journal.close());
  const runOf = async (command: string, answers: readonly string[]) => {
    const runs = openRuns({ journal, model: scriptedModel(insistent({ command })), hand });
    const { run } = await runs.start({ task: "do it", workspace: at.workspace });
    return { run: run.id, runs, entries: answers.length === 0 ? [] : await finishRun(runs, run.id, answers) };
  };
  const first = await runOf("echo ran >> marks", ["yes", "no"]);
  const open = await runOf("echo ran >> marks", []);
  for await (const followed of open.runs.follow(open.run))
    if ("entry" in followed && followed.entry.event.type === "question.asked") break;
  await assert.rejects(open.runs.answer(open.run, { text: "always", by: "eve", mayApprove: false }), {
    code: "FORBIDDEN",
  });
  assert.equal(existsSync(file), false);
  const review = await reviewAlways(open.runs, open.run);
  assert.deepEqual([review.rule["id"], review.count], ["always-echo-ran-marks", 2]);
  assert.deepEqual([...new Set(review.past.map(({ run }) => run))], [first.run]);
  assert.deepEqual(
    review.past.map(({ answer }) => answer),
    ["no", "yes"],
  );
  await open.runs.answer(open.run, { text: "Sim, sempre", by: "ada" });
  const entries = await watched(open.runs.follow(open.run));
  const answered = entries.flatMap(({ event }) => (event.type === "question.answered" ? [event] : []));
  assert.deepEqual(
    answered.map(({ answer, rule }) => [answer, rule]),
    [["yes, always", "always-echo-ran-marks"]],
  );
  assert.equal(readFileSync(join(at.workspace, "marks"), "utf8"), "ran\n".repeat(3));
  const written = JSON.parse(readFileSync(file, "utf8")) as { rules: readonly { commands: readonly string[] }[] };
  assert.deepEqual(
    written.rules.map(({ commands }) => commands),
    [["echo ran >> marks"]],
  );
  const other = await runOf("echo ran >> marks2", ["no", "no"]);
  assert.equal(other.entries.filter(({ event }) => event.type === "question.asked").length, 2);
});

test("always is not offered where the policy is the host's own: it is refused with a word on whose policy it is", async (t) => {
  const at = await target(t);
  const { journal } = await openStore("sqlite", join(temporaryFolder(t), "journal.db"));
  t.after(() => journal.close());
  const runs = openRuns({ journal, model: scriptedModel(insistent({ command: "echo ran >> marks" })), hand: at.hand });
  const { run } = await runs.start({ task: "do it", workspace: at.workspace });
  for await (const followed of runs.follow(run.id))
    if ("entry" in followed && followed.entry.event.type === "question.asked") {
      assert.equal(followed.entry.event.options.includes("yes, always"), false);
      break;
    }
  const refused = { code: "POLICY_DENIED", message: /cannot be added to from here.*stays open/s };
  await assert.rejects(runs.answer(run.id, { text: "yes, always", by: "ada" }), refused);
  await assert.rejects(reviewAlways(runs, run.id), { code: "CONFLICT" });
  await runs.abort(run.id, "enough");
  assert.equal(existsSync(join(at.workspace, "marks")), false);
});

test("a changed plan is judged anew: what the person wrote runs under a plan of its own, and the model is told", async (t) => {
  const at = await target(t);
  const { journal } = await openStore("sqlite", join(temporaryFolder(t), "journal.db"));
  t.after(() => journal.close());
  const model = scriptedModel(insistent({ command: "echo ran >> marks" }));
  const runs = openRuns({ journal, model, hand: at.hand });
  const { run } = await runs.start({ task: "do it", workspace: at.workspace });
  const entries = await finishRun(runs, run.id, ["yes, changed: echo mine >> marks", "no"]);
  assert.equal(readFileSync(join(at.workspace, "marks"), "utf8"), "mine\n");
  const judgements = entries.flatMap(({ event }) => (event.type === "policy.judged" ? [event] : []));
  assert.deepEqual(
    judgements.map(({ plan }) => plan.kind === "shell" && plan.command),
    ["echo ran >> marks", "echo mine >> marks", "echo ran >> marks"],
  );
  assert.notEqual(judgements[0]?.hash, judgements[1]?.hash);
  const asked = entries.find(({ event }) => event.type === "question.asked")?.event;
  const started = entries.find(({ event }) => event.type === "action.started")?.event;
  assert.ok(asked?.type === "question.asked" && started?.type === "action.started");
  assert.deepEqual([started.action.input["command"], started.approval], ["echo mine >> marks", asked.id]);
  const told = model.requests[1]?.turns.at(-1)?.text ?? "";
  assert.match(told, /test changed this call.*echo mine >> marks/);
});

test("a change that cannot be carried out leaves the question open", async (t) => {
  const at = await target(t);
  const { journal } = await openStore("sqlite", join(temporaryFolder(t), "journal.db"));
  t.after(() => journal.close());
  const runs = openRuns({ journal, model: scriptedModel(insistent({ command: "echo ran >> marks" })), hand: at.hand });
  const { run } = await runs.start({ task: "do it", workspace: at.workspace });
  for await (const followed of runs.follow(run.id))
    if ("entry" in followed && followed.entry.event.type === "question.asked") break;
  const by = "test";
  for (const [input, code] of [
    [{ comand: "ls" }, "BAD_ARGUMENTS"],
    [{ dir_path: 7 }, "BAD_ARGUMENTS"],
    [{ command: null }, "BAD_ARGUMENTS"],
  ] as const)
    await assert.rejects(runs.answer(run.id, { text: "yes", by, input }), { code }, JSON.stringify(input));
  await assert.rejects(runs.answer(run.id, { text: "no", by, input: { command: "ls" } }), { code: "BAD_ARGUMENTS" });
  const changed = { text: "yes", by, input: { command: "echo mine >> marks" }, mayApprove: false };
  await assert.rejects(runs.answer(run.id, changed), { code: "FORBIDDEN" });
  await runs.abort(run.id, "enough");
  assert.equal(existsSync(join(at.workspace, "marks")), false);
});

test("a no that speaks of a yes approves nothing", async (t) => {
  const { marks, faults } = await runWith(t, ["no, not yes", "No: yes, but tell me first what it does"]);
  assert.equal(marks, "");
  assert.deepEqual(faults, ["APPROVAL_DENIED", "APPROVAL_DENIED"]);
});

test("an approval that is not given in time is a refusal", async (t) => {
  const { marks, faults } = await runWith(t, undefined);
  assert.equal(marks, "");
  assert.deepEqual(faults, ["APPROVAL_EXPIRED", "APPROVAL_EXPIRED"]);
});
