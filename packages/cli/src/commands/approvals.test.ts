import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { doneLine, scriptedModel, shellLine } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

/** A stage whose model wants two approvals, one after the other, and is done. */
async function askingStage(things: AsyncDisposableStack) {
  const model = things.use(
    await scriptedModel(shellLine("touch one"), shellLine("touch two"), doneLine("all is well")),
  );
  const stage = things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url }));
  const isMade = (name: string): boolean => existsSync(join(stage.workspace, name));
  return { stage, model, isMade };
}

test("what waits in a daemon's runs is listed, shown whole, approved and denied from another terminal", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, model, isMade } = await askingStage(things);
  things.use(await up(stage));
  assert.match((await stage.run("approvals", "list")).stderr, /^Nothing waits for an approval\.$/m);

  const terminal = stage.terminal("run", "make two files");
  await terminal.sees("y yes");
  const { stdout: list } = await stage.run("approvals", "list");
  assert.match(list, /^RUN +WAITS +HOST +WHAT\n\w{8} .* shell 'touch one'$/m);
  const [first] = lines((await stage.run("approvals", "list", "--json")).stdout);
  const run = String(first?.["run_id"]);
  assert.match(JSON.stringify(first?.["plan"]), /"command":"touch one"/);
  assert.match((await stage.run("approvals", "show", run)).stdout, /make two files\n\n.*\n.*touch one/s);
  assert.deepEqual([isMade("one"), isMade("two")], [false, false]);

  const shown = await stage.run("approvals", "show", run);
  assert.match(shown.stdout, /With --always:\nThis rule would be added to the policy of local, as always-touch-one:/);
  const both = await stage.run("approvals", "approve", run, "--always", "--for-run");
  assert.equal(both.code, 2);
  const approved = await stage.run("approvals", "approve", String(first?.["question"]), "--always");
  assert.deepEqual([approved.code, approved.stderr], [0, `Approved in run ${run}.\n`]);
  assert.match((await stage.run("policy", "show")).stdout, /\+ allow +always-touch-one/);
  await terminal.sees("touch two");
  await terminal.sees("y yes");
  const stale = await stage.run("approvals", "approve", String(first?.["question"]));
  assert.equal(stale.code, 6);
  assert.match(stale.stderr, /is closed; the open one is q\d+_run_/);

  const denied = await stage.run("approvals", "deny", run.slice(-8), "--because", "one is enough");
  assert.deepEqual([denied.code, denied.stderr], [0, `Denied in run ${run}.\n`]);
  assert.equal(await terminal.ends(), 5);
  assert.deepEqual([isMade("one"), isMade("two")], [true, false]);
  assert.match(model.calls.at(-1) ?? "", /one is enough/);
  const over = await stage.run("approvals", "show", run);
  assert.equal(over.code, 6);
  assert.match(over.stderr, /Nothing waits for an approval in run run_\S+: it is finished\./);
});

test("an approval without a daemon drives its run on to the end", async () => {
  await using things = new AsyncDisposableStack();
  const { stage, isMade } = await askingStage(things);
  const terminal = stage.terminal("run", "make two files");
  await terminal.sees("y yes");
  await terminal.hangUp();
  const [waiting] = lines((await stage.run("approvals", "list", "--json")).stdout);
  const { stdout, code } = await stage.run("approvals", "approve", String(waiting?.["run_id"]));
  // The second question finds no person here, and is not approved.
  assert.equal(code, 5);
  assert.match(stdout, /all is well/);
  assert.deepEqual([isMade("one"), isMade("two")], [true, false]);
});
