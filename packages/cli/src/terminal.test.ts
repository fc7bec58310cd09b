import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { doneLine, scriptedModel, shellLine } from "./scripted-model.fixture.ts";
import type { ScriptedModel } from "./scripted-model.fixture.ts";
import { lines, Stage } from "./stage.fixture.ts";

const CTRL_C = "\u0003";

const stageWith = (model: ScriptedModel, env: NodeJS.ProcessEnv = {}): Promise<Stage> =>
  Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url, ...env });

const plan = (...steps: readonly string[]): string => JSON.stringify({ action: "plan", steps });

test("a person sees the plan, what it would run, and the answer", async () => {
  await using model = await scriptedModel(
    `${plan("make it", "tell")}\n${shellLine("echo hi > 'a file'")}`,
    doneLine("all is well"),
  );
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "make a file");
  await terminal.sees("▸ make a file");
  await terminal.sees("May this be done?");
  await terminal.sees("shell     echo hi > 'a file'\n");
  await terminal.sees("host: everything that the hand's user may do");
  await terminal.sees("rule default");
  await terminal.sees("y yes");
  assert.equal(existsSync(join(stage.workspace, "a file")), false);
  terminal.type("y");
  await terminal.sees("· exit 0 · 0 B ·");
  await terminal.sees("✓ make it");
  await terminal.sees("✓ tell");
  assert.equal(await terminal.ends(), 0);
  assert.match(terminal.seen, /\n\nall is well\n\n✓ make it\n✓ tell\n {2}2 steps · .*\n$/);
  assert.equal(await readFile(join(stage.workspace, "a file"), "utf8"), "hi\n");
});

test("in 40 columns the sentences of an approval are broken between words, and the command is shown to the letter", async () => {
  const command = "echo a-word-that-is-wider-than-the-terminal-is > made";
  await using model = await scriptedModel(shellLine(command), doneLine("well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminalOf(40, "run", "make a file");
  await terminal.sees("y yes");
  terminal.type("n");
  await terminal.ends();
  assert.match(
    terminal.seen,
    /\n {2}access {4}host: everything that the\n {12}hand's user may do, without\n {12}Vidro's own state\n/,
  );
  assert.ok(terminal.seen.includes(`\n  shell     ${command}\n`));
});

test("a no, alone or with its reason, is told to the model, and keys struck before are no answer", async () => {
  await using model = await scriptedModel(shellLine("touch one"), shellLine("touch two"), doneLine("well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "make two files");
  terminal.type("y\ny\n");
  await terminal.sees("y yes");
  terminal.type("n");
  await terminal.sees("May this be done?");
  await terminal.sees("y yes");
  terminal.type("w");
  await terminal.sees("why not");
  terminal.type("use three instead\r");
  assert.equal(await terminal.ends(), 5);
  assert.match(terminal.seen, /⊘ touch one: A person said no\.[^]*⊘ touch two: /);
  assert.match(model.calls[1] ?? "", /A person said no\./);
  assert.match(model.calls[2] ?? "", /They said: no: use three instead/);
  assert.equal(existsSync(join(stage.workspace, "one")) || existsSync(join(stage.workspace, "two")), false);
});

test("each key at an approval is answered: ? shows the keys, Enter and s are told to be no answer, Esc is no", async () => {
  await using model = await scriptedModel(`${plan("make it")}\n${shellLine("touch one")}`, doneLine("well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("make a file");
  await terminal.sees(
    "y yes   r yes for this run   a always   c change, then yes   n no   w no, and say why   ? the keys",
  );
  terminal.type("\r");
  await terminal.sees("Enter: that is no answer");
  await terminal.sees("? the keys");
  terminal.type("s");
  await terminal.sees("s: that is no answer");
  await terminal.sees("? the keys");
  terminal.type("?");
  await terminal.sees("Esc no   Ctrl-C ends the run");
  terminal.type("\u001b");
  await terminal.sees("⊘ touch one: A person said no.");
  await terminal.sees("⊘ make it");
  assert.equal(await terminal.ends(), 5);
});

test("a yes for this run is asked once for the same command", async () => {
  await using model = await scriptedModel(shellLine("echo x >> made"), shellLine("echo x >> made"), doneLine("twice"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "write twice");
  await terminal.sees("r yes for this run");
  terminal.type("r");
  assert.equal(await terminal.ends(), 0);
  assert.equal(readFileSync(join(stage.workspace, "made"), "utf8"), "x\nx\n");
});

test("always shows the rule and asks once more, and the next run is not asked; a change is made in the line itself", async () => {
  const make = shellLine("echo x >> made");
  await using model = await scriptedModel(make, doneLine("once"), make, doneLine("twice"), make, doneLine("thrice"));
  await using stage = await stageWith(model);
  const changing = stage.terminal("run", "write");
  await changing.sees("c change, then yes");
  changing.type("c");
  await changing.sees("run this instead: echo x >> made");
  changing.type("2\r");
  assert.equal(await changing.ends(), 0);
  assert.equal(readFileSync(join(stage.workspace, "made2"), "utf8"), "x\n");
  const terminal = stage.terminal("run", "write");
  await terminal.sees("a always");
  terminal.type("a");
  await terminal.sees("This rule would be added to the policy of local, as always-echo-x-made:");
  await terminal.sees('commands: ["echo x >> made"]');
  await terminal.sees("It would have allowed 1 earlier action, too:");
  await terminal.sees("write: yes, changed");
  await terminal.sees("a again adds it");
  terminal.type("x");
  await terminal.sees("a always");
  terminal.type("a");
  await terminal.sees("a again adds it");
  terminal.type("a");
  await terminal.sees("added rule always-echo-x-made");
  assert.equal(await terminal.ends(), 0);
  const { code, stdout } = await stage.run("run", "write again");
  assert.deepEqual([code, stdout.trim()], [0, "thrice"]);
  assert.equal(readFileSync(join(stage.workspace, "made"), "utf8"), "x\nx\n");
  assert.equal((await stage.run("policy", "remove", "always-echo-x-made")).code, 0);
});

test("what would be written to a file is shown with everything that cannot be seen in it", async () => {
  const args = { file_path: "/outside.txt", content: "first\nse\u001b[2Jcond\u202e\n" };
  await using model = await scriptedModel(
    JSON.stringify({ action: "use_tool", name: "write_file", args }),
    doneLine("well"),
  );
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "write outside");
  await terminal.sees("write /outside.txt");
  await terminal.sees("outside the workspace");
  await terminal.sees("first\n");
  await terminal.sees(String.raw`se\e[2Jcond\u202e`);
  await terminal.sees("y yes");
  terminal.type("no, not there\r");
  assert.equal(await terminal.ends(), 5);
  assert.match(model.calls[1] ?? "", /They said: no, not there/);
  assert.equal(existsSync("/outside.txt"), false);
});

test("an edit is shown as a diff before it is approved", async () => {
  const args = { file_path: "a.txt", old_string: "one\ntwo", new_string: "one\nthree" };
  await using model = await scriptedModel(JSON.stringify({ action: "use_tool", name: "edit", args }), doneLine("well"));
  await using stage = await stageWith(model);
  await writeFile(join(stage.workspace, "a.txt"), "one\ntwo\n");
  const terminal = stage.terminal("run", "change it");
  await terminal.sees("- one\n");
  await terminal.sees("- two\n");
  await terminal.sees("+ one\n");
  await terminal.sees("+ three\n");
  await terminal.sees("y yes");
  terminal.type("y");
  assert.equal(await terminal.ends(), 0);
  assert.equal(await readFile(join(stage.workspace, "a.txt"), "utf8"), "one\nthree\n");
});

test("a question is answered by the number of an option or in words", async () => {
  const ask = (question: string): string => JSON.stringify({ action: "ask", question, options: ["red", "blue"] });
  await using model = await scriptedModel(ask("Which colour?"), ask("Which shade?"), doneLine("well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "paint");
  await terminal.sees("? Which colour?");
  await terminal.sees("1-2");
  terminal.type("2\r");
  await terminal.sees("? Which shade?");
  await terminal.sees("1-2");
  terminal.type("a dark one\r");
  assert.equal(await terminal.ends(), 0);
  assert.match(model.calls[1] ?? "", /blue/);
  assert.match(model.calls[2] ?? "", /a dark one/);
});

test("what a model and a command write cannot steer the terminal", async () => {
  const hostile = String.raw`printf '\033]0;owned\007\033[2Jdrawn over\n\302\233 31mred'; sleep 0.3; exit 1`;
  await using model = await scriptedModel(
    `\u001b]0;owned\u0007look\n${shellLine(hostile)}`,
    doneLine("\u001b[5mwell\u202e"),
  );
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "--yes", "a task \u001b]0;owned\u0007");
  assert.equal(await terminal.ends(), 1);
  assert.match(terminal.seen, /drawn over/);
  assert.equal(terminal.raw.includes("\u001b]"), false);
  assert.equal(terminal.raw.includes("\u001b[2J"), false);
  assert.equal(terminal.raw.includes("\u001b[5m"), false);
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  assert.doesNotMatch(terminal.raw, /[\u0007\u0080-\u009f\u202e]/);
});

test("long output is folded to its last lines, and whole with --verbose", async () => {
  await using model = await scriptedModel(
    shellLine("seq 1 50 | sed s/^/line-/; sleep 0.3", "read"),
    doneLine("well"),
    doneLine("well"),
  );
  await using stage = await stageWith(model);
  const folded = stage.terminal("run", "--yes", "count");
  assert.equal(await folded.ends(), 0);
  assert.match(folded.seen, /│ line-50/);
  assert.doesNotMatch(folded.seen, /line-20\n/);
  assert.match(folded.seen, /· exit 0 · 391 B ·/);
  await using again = await scriptedModel(shellLine("seq 1 50 | sed s/^/line-/", "read"), doneLine("well"));
  await using other = await stageWith(again);
  const whole = other.terminal("run", "--yes", "--verbose", "count");
  assert.equal(await whole.ends(), 0);
  assert.match(whole.seen, /│ line-20\n/);
});

test("Ctrl-C aborts the run and waits for its end", async () => {
  await using model = await scriptedModel(shellLine("echo begun; sleep 60"), doneLine("well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "--yes", "take long");
  await terminal.sees("│ begun");
  terminal.type(CTRL_C);
  await terminal.sees("Aborted: Ctrl-C");
  assert.equal(await terminal.ends(), 130);
  const [head] = lines((await stage.run("runs", "list", "--json")).stdout);
  assert.equal(head?.["status"], "aborted");
});

test("Ctrl-C twice leaves the run open and says how to attach", async () => {
  await using model = await scriptedModel(
    shellLine("trap '' TERM; echo begun; while :; do sleep 1; done"),
    doneLine("well"),
  );
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "--yes", "be stubborn");
  await terminal.sees("│ begun");
  terminal.type(CTRL_C);
  await terminal.sees("Ctrl-C again leaves it open");
  terminal.type(CTRL_C);
  await terminal.sees("the run is left open");
  await terminal.sees("vidro attach run_");
  assert.equal(await terminal.ends(), 130);
  const [head] = lines((await stage.run("runs", "list", "--open", "--json")).stdout);
  assert.equal(head?.["status"], "running");
});

test("Ctrl-C at a question aborts the run", async () => {
  await using model = await scriptedModel(shellLine("touch made"), doneLine("well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "make a file");
  await terminal.sees("y yes");
  terminal.type(CTRL_C);
  assert.equal(await terminal.ends(), 130);
});

test("an approval outlives its terminal, and is shown in full also after a cursor", async () => {
  for (const after of ["4", "5"]) {
    await using model = await scriptedModel(shellLine("touch made"), doneLine("all is well"));
    await using stage = await stageWith(model);
    const first = stage.terminal("run", "make a file");
    await first.sees("y yes");
    await first.hangUp();
    const second = stage.terminal("attach", "--last", "--after", after);
    await second.sees("May this be done?");
    await second.sees("shell     touch made");
    await second.sees("y yes");
    second.type("y");
    await second.sees("all is well");
    assert.equal(await second.ends(), 0);
    assert.equal(existsSync(join(stage.workspace, "made")), true);
  }
});

test("an approval that lies behind a program's cursor is answered all the same", async () => {
  await using model = await scriptedModel(shellLine("touch made"), doneLine("all is well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "make a file");
  await terminal.sees("y yes");
  await terminal.hangUp();
  const { code, stdout } = await stage.run("attach", "--json", "--last", "--after", "5", "--yes");
  assert.equal(code, 0);
  assert.deepEqual([lines(stdout)[0]?.["event"], lines(stdout)[0]?.["seq"]], ["question.answered", 6]);
  assert.equal(existsSync(join(stage.workspace, "made")), true);
});

test("a terminal that can do nothing gets plain lines, and NO_COLOR gets no colours", async () => {
  await using stage = await Stage.set({ TERM: "dumb" });
  const dumb = stage.terminal("run", "how much disk is free?");
  assert.equal(await dumb.ends(), 0);
  assert.equal(dumb.raw.includes("\u001b"), false);
  await using plain = await Stage.set({ NO_COLOR: "1" });
  const pale = plain.terminal("run", "how much disk is free?");
  assert.equal(await pale.ends(), 0);
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  assert.doesNotMatch(pale.raw, /\u001b\[[\d;]*m/);
});

test("--quiet leaves nothing but the answer", async () => {
  await using model = await scriptedModel(`${plan("look")}\n${shellLine("true", "read")}`, doneLine("all is well"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal("run", "--quiet", "look");
  assert.equal(await terminal.ends(), 0);
  assert.equal(terminal.seen, "all is well\n");
});

test("vidro alone is a conversation that remembers what was said", async () => {
  await using model = await scriptedModel(doneLine("it is blue"), doneLine("as I said"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal();
  await terminal.sees("scripted decides, because");
  await terminal.sees("Try:");
  await terminal.sees("› ");
  terminal.type("/help\r");
  await terminal.sees("/runs");
  terminal.type("/nonsense\r");
  await terminal.sees("There is no /nonsense");
  terminal.type("what colour is the sky?\r");
  await terminal.sees("it is blue");
  await terminal.sees("› ");
  terminal.type("are you sure?\r");
  await terminal.sees("as I said");
  await terminal.sees("› ");
  // Some of these Ctrl-C arrive after one prompt is closed and before the next is open.
  for (let round = 0; round < 10; round += 1) {
    terminal.type("?\r");
    await terminal.sees("Arrow up brings back");
    terminal.type(CTRL_C);
    await terminal.sees("Ctrl-D leaves.");
    await terminal.sees("› ");
  }
  terminal.type("exit\r");
  assert.equal(await terminal.ends(), 0);
  assert.match(model.calls[1] ?? "", /what colour is the sky\?.*it is blue/);
});

test("a long paste arrives whole, wherever the terminal cuts it, and keys after it are keys", async () => {
  await using model = await scriptedModel(doneLine("read"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal();
  await terminal.sees("› ");
  // Letters of two to four bytes, so that pieces end inside of them.
  const text = Array.from({ length: 2000 }, (_, index) => `ção ${index} 😀`).join("\n");
  terminal.type(`\u001b[200~${text}\u001b[201~\r`);
  await terminal.sees("1 step");
  await terminal.sees("› ");
  terminal.type("\u0004");
  assert.equal(await terminal.ends(), 0);
  const [head] = lines((await stage.run("runs", "list", "--json")).stdout);
  assert.equal(head?.["task"], text);
});

test("a pasted text of several lines is one task", async () => {
  await using model = await scriptedModel(doneLine("read"));
  await using stage = await stageWith(model);
  const terminal = stage.terminal();
  await terminal.sees("› ");
  terminal.type("first line\nsecond line\n");
  await terminal.sees("1 step");
  await terminal.sees("› ");
  terminal.type("\u0004");
  assert.equal(await terminal.ends(), 0);
  const [head, ...others] = lines((await stage.run("runs", "list", "--json")).stdout);
  assert.equal(head?.["task"], "first line\nsecond line");
  assert.deepEqual(others, []);
});
