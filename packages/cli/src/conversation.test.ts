import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { up } from "./daemon.fixture.ts";
import { doneLine, scriptedModel, shellLine } from "./scripted-model.fixture.ts";
import { lines, Stage } from "./stage.fixture.ts";
import { columnsOf } from "./view/columns.ts";

const ESC = "\u001b";

test("a conversation: several lines are one task, a file is put in under the policy, a command is a part of it, and all of it has a cost", async () => {
  await using model = await scriptedModel(doneLine("one"), doneLine("two"), doneLine("three"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  await writeFile(join(stage.workspace, "notes.md"), "buy milk\n");
  await writeFile(join(stage.workspace, ".env"), "KEY=abc\n");
  const gif = "R0lGODlhAwACAIAAAP8AAAAAACwAAAAAAwACAAACAoRRADs=";
  await writeFile(join(stage.workspace, "picture.gif"), Buffer.from(gif, "base64"));
  const terminal = stage.terminal();
  await terminal.sees("› ");
  terminal.type(`first${ESC}\r`);
  terminal.type("second\\");
  terminal.type("\r");
  terminal.type(`${ESC}[200~pasted\rlines${ESC}[201~`);
  await terminal.sees("lines");
  terminal.type("\r");
  await terminal.sees("one\n");
  await terminal.sees("› ");
  terminal.type("read @not\t");
  await terminal.sees("@notes.md");
  terminal.type(" and @.env and @picture.gif\r");
  await terminal.sees("with notes.md (9 B)");
  await terminal.sees(".env is not put in: ");
  await terminal.sees("with picture.gif (image/gif)");
  await terminal.sees("two\n");
  await terminal.sees("› ");
  terminal.type("!touch made\r");
  await terminal.sees("▸ touch made\n");
  await terminal.sees("May this be done?");
  await terminal.sees("y yes");
  terminal.type("y");
  await terminal.sees("· exit 0 ·");
  await terminal.sees("› ");
  terminal.type("what was that?\r");
  await terminal.sees("three\n");
  await terminal.sees("› ");
  terminal.type("/cost\r");
  await terminal.sees("4 runs: ");
  terminal.type("exit\r");
  assert.equal(await terminal.ends(), 0);
  assert.equal(existsSync(join(stage.workspace, "made")), true);
  const tasks = lines((await stage.run("runs", "list", "--json")).stdout).map(({ task }) => task);
  assert.equal(tasks.at(-1), "first\nsecond\npasted\nlines");
  assert.match(model.calls[1] ?? "", /buy milk/);
  assert.doesNotMatch(model.calls[1] ?? "", /KEY=abc/);
  assert.match(model.calls[2] ?? "", /touch.*made/);
});

test("what is typed while a run works is said to it, and what is not sent is at the next prompt", async () => {
  const begun = Promise.withResolvers<string>();
  await using model = await scriptedModel(begun.promise, doneLine("noted"), doneLine("again"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const terminal = stage.terminal();
  await terminal.sees("› ");
  terminal.type("count\r");
  await terminal.sees("thinking");
  terminal.type("in Spanish, please");
  await terminal.sees("› in Spanish, please");
  terminal.type("\r");
  await terminal.sees("says: in Spanish, please");
  terminal.type("and then");
  await terminal.sees("› and then");
  begun.resolve(shellLine("true", "read"));
  await terminal.sees("noted\n");
  await terminal.sees("› and then");
  terminal.type(" stop\r");
  await terminal.sees("again\n");
  await terminal.sees("› ");
  terminal.type("\u0004");
  assert.equal(await terminal.ends(), 0);
  assert.match(model.calls[1] ?? "", /in Spanish, please/);
  assert.match(model.calls[2] ?? "", /and then stop/);
});

test("commands choose model, agent and tools, list what waits, begin anew and fork", async () => {
  await using model = await scriptedModel(doneLine("one"), doneLine("forked"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const terminal = stage.terminal();
  await terminal.sees("› ");
  for (const [typed, seen] of [
    ["/model", "scripted decides, because"],
    ["/model offline", "offline decides from now on."],
    ["/model default", "The brain's own choice decides from now on."],
    ["/agent", "scout"],
    ["/agent nobody", "nobody"],
    ["/agent scout", "scout does it from now on."],
    ["/tools nope", "There is no tool nope; there are shell"],
    ["/tools read_file,delegate", "Tools: read_file, delegate"],
    ["/tools read_file", "Tools: read_file"],
    ["/approvals", "Nothing waits for an approval."],
    ["/fork 1", "There is no run in this conversation yet."],
    ["/cost", "No model was called"],
  ] as const) {
    terminal.type(`${typed}\r`);
    await terminal.sees(seen);
    await terminal.sees("› ");
  }
  terminal.type("look\r");
  await terminal.sees("scout with scripted");
  await terminal.sees("one\n");
  await terminal.sees("› ");
  terminal.type("/fork 1 shorter\r");
  await terminal.sees("forked from run_");
  await terminal.sees("forked\n");
  await terminal.sees("› ");
  terminal.type("/new\r");
  await terminal.sees("A new conversation.");
  terminal.type("exit\r");
  assert.equal(await terminal.ends(), 0);
  const offered = JSON.stringify((JSON.parse(model.calls[0] ?? "{}") as { tools?: unknown }).tools ?? model.calls[0]);
  assert.match(offered, /read_file/);
  assert.doesNotMatch(offered, /write_file/);
  assert.match(model.calls[1] ?? "", /shorter/);
});

test("a conversation speaks the language of the terminal, and no row is wider than 40 columns", async () => {
  await using stage = await Stage.set({ LANG: "pt_BR.UTF-8" });
  const terminal = stage.terminalOf(40);
  await terminal.sees("Experimente:");
  await terminal.sees("› ");
  terminal.type("?\r");
  await terminal.sees("A seta para cima traz tarefas");
  terminal.type("/nada\r");
  await terminal.sees("Não há /nada.");
  const text = "uma linha que é bem mais comprida que o terminal";
  terminal.type(text);
  await terminal.sees("comprida");
  terminal.type("\u0003");
  terminal.type("sair\r");
  assert.equal(await terminal.ends(), 0);
  const wide = terminal.seen.split("\n").filter((row) => columnsOf(row) > 40 && !row.includes("vidro em"));
  // A row that is edited is drawn again and again; what is drawn at once is no wider.
  assert.deepEqual(
    wide.filter((row) => !row.includes("›")),
    [],
  );
  await using spanish = await Stage.set({ LC_ALL: "es_ES.UTF-8" });
  const other = spanish.terminal();
  await other.sees("Pruebe:");
  other.type("salir\r");
  assert.equal(await other.ends(), 0);
});

test("a line that is being written, and a run at work, follow the width of the terminal", async () => {
  const reply = Promise.withResolvers<string>();
  await using model = await scriptedModel(reply.promise);
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const terminal = stage.terminal();
  await terminal.sees("› ");
  const line = "a".repeat(60);
  terminal.type(line);
  await terminal.sees(line);
  terminal.resize(40);
  await terminal.sees(`${"a".repeat(37)}\n  ${"a".repeat(23)}`);
  terminal.type("\r");
  await terminal.sees("thinking");
  terminal.resize(30);
  await terminal.sees("thinking");
  reply.resolve(doneLine("these are words that need more than one row of thirty columns"));
  await terminal.sees("these are words that need more\nthan one row of thirty columns");
  await terminal.sees("› ");
  terminal.type("\u0004");
  assert.equal(await terminal.ends(), 0);
  assert.equal(terminal.raw.includes("\u001b[?2004h"), true);
  assert.equal(terminal.raw.lastIndexOf("\u001b[?2004l") > terminal.raw.lastIndexOf("\u001b[?2004h"), true);
});

test("a question waits for a person who is in the middle of a word, and no letter of it is an answer", async () => {
  const reply = Promise.withResolvers<string>();
  await using model = await scriptedModel(reply.promise, doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  const terminal = stage.terminal();
  await terminal.sees("› ");
  terminal.type("make it\r");
  await terminal.sees("thinking");
  terminal.type("m");
  await terminal.sees("› m");
  reply.resolve(shellLine("touch made"));
  for (const letter of "ay I say y and n") {
    terminal.type(letter);
    await terminal.sees(letter);
  }
  terminal.type("\r");
  await terminal.sees("y yes");
  assert.equal(existsSync(join(stage.workspace, "made")), false);
  terminal.type("n");
  await terminal.sees("A person said no.");
  await terminal.sees("well\n");
  await terminal.sees("› ");
  terminal.type("\u0004");
  assert.equal(await terminal.ends(), 0);
  assert.match(terminal.seen, /says: may I say y and n/);
  assert.match(model.calls[1] ?? "", /may I say y and n/);
});

test("a remark while a question is open leaves the question open, on the terminal that is asked", async () => {
  await using model = await scriptedModel(shellLine("touch made"), doneLine("well"));
  await using stage = await Stage.set({ VIDRO_MODEL: "", VIDRO_MODEL_URL: model.url });
  await using _ = await up(stage);
  const terminal = stage.terminal("run", "make it");
  await terminal.sees("y yes");
  const [open] = lines((await stage.run("runs", "list", "--open", "--json")).stdout);
  assert.equal((await stage.run("say", String(open?.["run_id"]), "hurry up")).code, 0);
  await terminal.sees("says: hurry up");
  terminal.type("y");
  await terminal.sees("· exit 0 ·");
  assert.equal(await terminal.ends(), 0);
  assert.match(model.calls[1] ?? "", /hurry up/);
});
