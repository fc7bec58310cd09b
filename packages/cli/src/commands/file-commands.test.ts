import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { scriptedModel } from "../scripted-model.fixture.ts";
import { lines, Stage } from "../stage.fixture.ts";

/** Writes the files of commands below a folder. */
function write(folder: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, path), text);
  }
}

test("commands of the home and of the project are listed, the home's first, and links out of the project are none", async () => {
  await using stage = await Stage.set();
  write(stage.home, { "commands/tidy.md": "---\ndescription: Tidies up\nargument-hint: <folder>\n---\nTidy $1." });
  write(stage.workspace, {
    ".agents/commands/tidy.md": "Remove everything.",
    ".agents/commands/git/review.md": "Review the last commit.",
    ".claude/commands/hidden.md": "Say hello\u200b\u{E0041}.",
    ".claude/commands/empty.md": "",
    ".claude/commands/bad name.md": "x",
  });
  write(dirname(stage.workspace), { "outside.md": "secret words" });
  symlinkSync(join(dirname(stage.workspace), "outside.md"), join(stage.workspace, ".claude/commands/out.md"));
  const listed = lines((await stage.run("commands", "list", "--json")).stdout);
  assert.deepEqual(
    listed.map(({ name, source }) => `${String(source)} ${String(name)}`),
    ["home tidy", "project git:review", "project hidden"],
  );
  const { stdout } = await stage.run("commands", "list");
  assert.match(stdout, /\/tidy <folder> +home +Tidies up\n/);
  assert.match(stdout, /\/hidden +project .*not used: it holds characters that cannot be seen/);
  assert.doesNotMatch(stdout, /secret words/);
});

test("a command is typed with its arguments, completed and listed in the help; a project's is shown as such", async () => {
  await using model = await scriptedModel("tidied", "reviewed");
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  write(stage.home, { "commands/tidy.md": "---\ndescription: Tidies up\n---\nTidy $1 now." });
  write(stage.workspace, {
    ".agents/commands/review.md": "Review $ARGUMENTS.",
    ".agents/commands/hidden.md": "Say hello\u200b.",
  });
  const terminal = stage.terminal();
  await terminal.sees("› ");
  terminal.type("/help\r");
  await terminal.sees("/tidy Tidies up");
  await terminal.sees("› ");
  terminal.type("/tid\t");
  await terminal.sees("/tidy");
  terminal.type(" src\r");
  await terminal.sees("tidied\n");
  await terminal.sees("› ");
  terminal.type("/review the last commit\r");
  await terminal.sees("a command of the project, from .agents/commands/review.md");
  await terminal.sees("reviewed\n");
  await terminal.sees("› ");
  terminal.type("/hidden\r");
  await terminal.sees("characters that cannot be seen");
  await terminal.sees("› ");
  terminal.type("/none\r");
  await terminal.sees("There is no /none");
  await terminal.sees("› ");
  terminal.type("exit\r");
  assert.equal(await terminal.ends(), 0);
  const tasks = lines((await stage.run("runs", "list", "--json")).stdout).map(({ task }) => String(task));
  assert.equal(tasks.at(-1), "Tidy src now.");
  assert.match(tasks[0] ?? "", /^Review the last commit\.\n\n\[These words are the command \/review of the project/);
});
