import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "../daemon.fixture.ts";
import { doneLine, scriptedModel } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

const PROPOSAL = JSON.stringify({
  type: "tool_spec",
  name: "count_words",
  description: "Counts words.",
  command: "wc",
  args: ["-w", "{file}"],
});
const USE = JSON.stringify({ type: "use_tool", name: "count_words", args: { file: "notes.txt" } });

/** A model proposes a tool, a person approves it, later runs use it, and a person shows, promotes and removes it. */
async function useTools(daemon: boolean): Promise<void> {
  await using things = new AsyncDisposableStack();
  const script = [PROPOSAL, doneLine("made"), USE, doneLine("three"), doneLine("none"), USE, doneLine("again")];
  const model = things.use(await scriptedModel(...script, doneLine("gone")));
  const stage = things.use(await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url }));
  if (daemon) things.use(await up(stage));
  writeFileSync(join(stage.workspace, "notes.txt"), "one two three\n");
  assert.match((await stage.run("tools", "list")).stderr, /There is no tool that a model proposed/);

  const terminal = stage.terminal("run", "make a tool");
  await terminal.sees("count_words");
  await terminal.sees("y yes");
  terminal.type("y");
  assert.equal(await terminal.ends(), 0);
  const [made] = lines((await stage.run("tools", "list", "--json")).stdout);
  const { thread, source, name, argv } = made as unknown as {
    thread: string;
    source: { run: string };
    name: string;
    argv: [];
  };
  assert.deepEqual([name, argv], ["count_words", ["wc", "-w", "{file}"]]);
  const shown = await stage.run("tools", "show", "count_words");
  assert.equal(shown.stdout, "wc -w '{file}'\n");
  assert.match(shown.stderr, new RegExp(`thread ${thread} · approved by .+\\nproposed in ${source.run}, entry 4`, "s"));

  const later = await stage.run("run", "--thread", thread, "how many words?");
  assert.equal(later.code, 0, later.stderr);
  assert.match(model.calls.at(-1) ?? "", /3 notes\.txt/, "the tool of the thread has run");
  await stage.run("run", "another thread");
  assert.doesNotMatch(model.calls.at(-1) ?? "", /Counts words/, "it lives with its thread");

  assert.match((await stage.run("tools", "promote", "count_words")).stderr, /All threads have count_words/);
  assert.match((await stage.run("tools", "list")).stdout, /^count_words +all +wc -w/m);
  assert.equal((await stage.run("tools", "promote", "count_words")).code, 6);
  await stage.run("run", "a third thread");
  assert.match(model.calls.at(-1) ?? "", /3 notes\.txt/, "all threads have it");

  assert.match((await stage.run("tools", "remove", "count_words")).stderr, /count_words is removed/);
  assert.equal((await stage.run("tools", "show", "count_words")).code, 3);
  await stage.run("run", "a fourth thread");
  assert.doesNotMatch(model.calls.at(-1) ?? "", /Counts words/);
}

test("an approved tool lives with its thread until a person promotes or removes it, without a daemon", async () => {
  await useTools(false);
});

test("an approved tool lives with its thread until a person promotes or removes it, with a daemon", async () => {
  await useTools(true);
});
