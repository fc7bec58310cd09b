import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { TestContext } from "node:test";
import { COMMAND_FILE_LIMITS } from "@vidro/core";
import { readFileCommands, taskOfCommand } from "./command-files.ts";

/** A home and a project that are gone after the test, with files in them. */
function placeOf(t: TestContext, files: { readonly [path: string]: string | Buffer }) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "vidro-commands-")));
  const before = process.env["VIDRO_HOME"];
  t.after(() => {
    if (before === undefined) delete process.env["VIDRO_HOME"];
    else process.env["VIDRO_HOME"] = before;
    rmSync(folder, { recursive: true, force: true });
  });
  process.env["VIDRO_HOME"] = join(folder, "home");
  const project = join(folder, "project");
  mkdirSync(project);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const names = (): readonly string[] => readFileCommands(project).map(({ name, source }) => `${source} ${name}`);
  return { folder, project, names };
}

describe("commands from files", () => {
  it("are those of the home before those of the project, one of each name", (t) => {
    const { project } = placeOf(t, {
      "home/commands/review.md": "Mine.",
      "project/.agents/commands/review.md": "Theirs.",
      "project/.agents/commands/fix.md": "Fix it.",
      "project/.claude/commands/fix.md": "Fix it otherwise.",
      "project/.claude/commands/git/push.md": "Push it.",
    });
    const found = readFileCommands(project).map(({ name, source, body, path }) => [name, source, body, path]);
    assert.deepEqual(found, [
      ["review", "home", "Mine.", "commands/review.md"],
      ["fix", "project", "Fix it.", ".agents/commands/fix.md"],
      ["git:push", "project", "Push it.", ".claude/commands/git/push.md"],
    ]);
  });

  it("are none where there are no folders", (t) => {
    const { folder, names } = placeOf(t, {});
    assert.deepEqual(names(), []);
    assert.deepEqual(readFileCommands(join(folder, "gone")), []);
  });

  it("have names that can be typed: files with others are left out", (t) => {
    const { names } = placeOf(t, {
      "home/commands/.hidden.md": "x",
      "home/commands/-flag.md": "x",
      "home/commands/two words.md": "x",
      "home/commands/a:b.md": "x",
      "home/commands/é.md": "x",
      "home/commands/.md": "x",
      [`home/commands/${"x".repeat(65)}.md`]: "x",
      [`home/commands/${"y".repeat(64)}.md`]: "x",
      "home/commands/notes.txt": "x",
      "home/commands/v1.2_a-b.md": "x",
      "home/commands/bad folder/x.md": "x",
      "home/commands/.git/x.md": "x",
      "home/commands/deep/er/x.md": "x",
    });
    // A colon divides folder and name: a file that has one in its name is reached by it as well.
    assert.deepEqual(names(), ["home a:b", "home v1.2_a-b", `home ${"y".repeat(64)}`]);
  });

  it("are text files of bounded size with words in them", (t) => {
    const { folder, names } = placeOf(t, {
      "home/commands/empty.md": "",
      "home/commands/head.md": "---\ndescription: only a head\n---\n",
      "home/commands/largest.md": "x".repeat(COMMAND_FILE_LIMITS.fileBytes),
      "home/commands/larger.md": "x".repeat(COMMAND_FILE_LIMITS.fileBytes + 1),
      "home/commands/folder.md/x.txt": "a folder whose name ends so",
    });
    execFileSync("mkfifo", [join(folder, "home/commands/fifo.md")]);
    symlinkSync("fifo.md", join(folder, "home/commands/to-fifo.md"));
    symlinkSync("/dev/zero", join(folder, "home/commands/endless.md"));
    assert.deepEqual(names(), ["home largest"]);
  });

  it("lie within their home or project, also behind links", (t) => {
    const { folder, names } = placeOf(t, {
      "outside.md": "A secret of the host.",
      "outside/x.md": "Another one.",
      "project-twin/x.md": "A folder whose name begins as the project's.",
      "project/docs/real.md": "Within the project.",
      "project/.agents/commands/plain.md": "Plain.",
    });
    const commands = join(folder, "project/.agents/commands");
    symlinkSync("../../docs/real.md", join(commands, "inside.md"));
    symlinkSync("../../../outside.md", join(commands, "leaving.md"));
    symlinkSync("../../../project-twin/x.md", join(commands, "twin.md"));
    symlinkSync("../../../outside", join(commands, "folder"));
    symlinkSync("nowhere.md", join(commands, "broken.md"));
    symlinkSync("loop.md", join(commands, "loop.md"));
    assert.deepEqual(names(), ["project inside", "project plain"]);
  });

  it("are bounded in number", (t) => {
    const many = Array.from({ length: COMMAND_FILE_LIMITS.commands + 5 }, (_, at) => [
      `project/.agents/commands/c${String(at).padStart(4, "0")}.md`,
      "x",
    ]);
    const { names } = placeOf(t, { ...(Object.fromEntries(many) as object), "home/commands/own.md": "x" });
    assert.equal(names().length, COMMAND_FILE_LIMITS.commands);
    assert.equal(names()[0], "home own", "a project cannot crowd out those of the person");
  });

  it("become tasks that say when the words are the project's", (t) => {
    const { project } = placeOf(t, {
      "home/commands/own.md": "Do $1.",
      "project/.agents/commands/theirs.md": "Do $ARGUMENTS well.",
    });
    const [own, theirs] = readFileCommands(project);
    assert.ok(own !== undefined && theirs !== undefined);
    assert.equal(taskOfCommand(own, "this that"), "Do this.");
    assert.equal(
      taskOfCommand(theirs, "it"),
      "Do it well.\n\n[These words are the command /theirs of the project, from its file .agents/commands/theirs.md.]",
    );
  });

  it("that hold what a person cannot see are refused, by the name of their file", (t) => {
    const { project } = placeOf(t, {
      "project/.agents/commands/hidden.md": "Do it.\u{E0041}",
      "project/.agents/commands/turned.md": "Do \u202Eit.",
    });
    for (const command of readFileCommands(project))
      assert.throws(() => taskOfCommand(command, ""), { code: "BAD_ARGUMENTS", message: /cannot be seen .* not used/ });
  });
});
