import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";
import type { Line } from "../stage.fixture.ts";

const WRITE = "echo x >> made";

interface Prompt {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

const promptOf = (call: string | undefined): Prompt["messages"] => (JSON.parse(call ?? "{}") as Prompt).messages;
const seqOf = (events: readonly Line[], name: string): number =>
  Number(events.find(({ event }) => event === name)?.["seq"]);

/** A stage with one run that wrote a line to a file. */
async function writtenOnce(things: AsyncDisposableStack, withDaemon: boolean, ...more: readonly string[]) {
  const model = things.use(await scriptedModel(shellLine(WRITE), doneLine("written"), ...more));
  const stage = things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url }));
  if (withDaemon) things.use(await up(stage));
  const events = lines((await stage.run("run", "--yes", "--json", "write a line")).stdout);
  const made = (): string => readFileSync(join(stage.workspace, "made"), "utf8");
  assert.equal(made(), "x\n");
  return { model, stage, events, run: String(events[0]?.["run_id"]), made };
}

for (const withDaemon of [false, true])
  test(`a fork ${withDaemon ? "by a daemon" : "without a daemon"} has the prompt of its run up to an entry, is told something else, and repeats no effect`, async () => {
    await using things = new AsyncDisposableStack();
    const { model, stage, events, run, made } = await writtenOnce(things, withDaemon, doneLine("a fork"));
    const at = seqOf(events, "action.finished");
    const fork = lines((await stage.run("runs", "fork", run, "--at", `${at}`, "--json", "and", "in short")).stdout);
    assert.deepEqual(fork.at(-1)?.["event"], "run.finished");
    const { forked, task } = fork[0]!.body as { forked: { run: string; seq: number }; task: string };
    assert.deepEqual([forked.run, forked.seq, task], [run, at, "write a line"]);
    assert.equal(made(), "x\n");
    const [before, after] = [promptOf(model.calls[1]), promptOf(model.calls[2])];
    assert.deepEqual(after.slice(0, before.length), before);
    assert.deepEqual(
      after.slice(before.length).map(({ content }) => content),
      ["and in short"],
    );
    const beyond = await stage.run("runs", "fork", run, "--at", "99");
    assert.equal(beyond.code, 2);
    assert.match(beyond.stderr, /has the entries 1 to \d+; it cannot be forked at 99/);
    assert.match((await stage.run("runs", "show", String(fork[0]?.["run_id"]))).stdout, /forked from run_\S+ at entry/);
  });

test("a fork of an open question starts before the call that is asked about", async () => {
  await using things = new AsyncDisposableStack();
  const { model, stage, events, run } = await writtenOnce(things, false, doneLine("no need"));
  const at = seqOf(events, "question.asked");
  const fork = lines((await stage.run("runs", "fork", run, "--at", `${at}`, "--json")).stdout);
  assert.equal((fork[0]!.body["forked"] as { seq: number }).seq, 1);
  assert.deepEqual(promptOf(model.calls[2]), promptOf(model.calls[0]));
});

test("M-08 a replay asks another model at each decision, shows where it decides otherwise, and carries out nothing", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, run, made, model } = await writtenOnce(things, false, shellLine(WRITE), doneLine("written, too"));
  const same = await stage.run("runs", "replay", run, "--model", "scripted");
  assert.equal(same.code, 0, same.stderr);
  assert.match(same.stdout, /^= step 1, entry \d+ {2}.*echo x >> made.*\n= step 2, entry \d+ {2}answers: written\n$/);
  assert.match(same.stderr, /makes 2 of 2 decisions as they were made.*Nothing was carried out\./);
  assert.deepEqual(promptOf(model.calls[2]), promptOf(model.calls[0]));
  const other = await stage.run("runs", "replay", run, "--model", "offline", "--json");
  assert.equal(other.code, 0, other.stderr);
  const steps = lines(other.stdout) as readonly (Line & { recorded: { kind: string }; same: boolean })[];
  assert.deepEqual(steps.map(({ recorded, same: isSame }) => [recorded.kind, isSame])[0], ["action", false]);
  assert.equal(made(), "x\n");
  assert.equal((await stage.run("runs", "list", "--json")).stdout.trim().split("\n").length, 1);
});

test("M-07 a policy is tried on the actions of past runs, and what it would decide otherwise is shown", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, made } = await writtenOnce(things, false);
  const file = join(stage.workspace, "strict.json");
  const examples = { match: [{ command: WRITE, access: "host", sandboxed: false }], not_match: [] };
  const rule = { id: "no-writing", kind: "shell", class: "write", decision: "deny", commands: [WRITE], examples };
  await writeFile(file, JSON.stringify({ extends: "shipped", rules: [rule] }));
  const { code, stdout, stderr } = await stage.run("policy", "test", file, "--history");
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^ask → deny {2}shell 'echo x >> made'\n {4}run \w{8}, entry \d+ {2}rule default → no-writing\n$/,
  );
  assert.match(stderr, /1 past action judged by .*strict\.json: 1 would be decided otherwise\. Nothing was run\./);
  const [changed] = lines((await stage.run("policy", "test", file, "--history", "--json")).stdout);
  assert.equal((changed!["now"] as { rule: string }).rule, "no-writing");
  const unchanged = await stage.run("policy", "test", "--history");
  assert.deepEqual([unchanged.code, unchanged.stdout], [0, ""]);
  assert.match(unchanged.stderr, /1 past action judged by the policy in force: none would be decided otherwise/);
  assert.equal((await stage.run("policy", "test", file)).code, 2);
  assert.equal(made(), "x\n");
});
