import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { HAND_LIMITS, SKILL_LIMITS } from "@vidro/core";
import type { Surroundings } from "@vidro/core";
import { printable } from "@vidro/core/text";
import { HOST_FACTS_SCHEMA } from "@vidro/core/wire/host-facts";
import { explainMismatch } from "@vidro/core/wire/schema-check";
import { findHostSandbox } from "../exec/sandbox.ts";
import { openPolicy } from "../policy/policy-file.ts";
import { loadSchemaCompiler } from "../schema-compiler.ts";
import { contextIn, handIn, scratch } from "../scratch.fixture.ts";

/** What a hand with the shipped policy tells of a folder. */
async function factsOf(t: TestContext, folder: string): Promise<Surroundings> {
  const { workspace, state } = contextIn(folder);
  const policy = openPolicy({ file: join(folder, "policy.json"), workspace, state });
  const hand = await handIn(t, folder, { policy });
  return (await hand.surroundings?.()) ?? {};
}

function workspaceIn(folder: string, files: { readonly [name: string]: string }): string {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
  return workspace;
}

function git(workspace: string, ...args: readonly string[]): void {
  const who = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
  execFileSync("git", ["-C", workspace, ...who, ...args], { stdio: "ignore" });
}

test("a hand tells its system, its shell, the branch and state of the repository, and the project's AGENTS.md", async (t) => {
  const folder = scratch(t);
  const workspace = workspaceIn(folder, { "AGENTS.md": "Use tabs.\n", "a.txt": "one\n" });
  git(workspace, "init", "-q", "-b", "trunk");
  git(workspace, "add", ".");
  git(workspace, "commit", "-qm", "first");
  writeFileSync(join(workspace, "a.txt"), "two, which is longer\n");
  writeFileSync(join(workspace, "b.txt"), "new\n");
  const { system, shell, git: state, guides } = await factsOf(t, folder);
  assert.match(system ?? "", /\w+ .*\(Linux|Darwin/);
  assert.match(shell ?? "", /^\/bin\//);
  const whole = "trunk, 1 changed, 1 not tracked:\n   M a.txt\n  ?? b.txt";
  assert.equal(state, (await findHostSandbox([])) === undefined ? "trunk" : whole);
  assert.deepEqual(guides, [{ path: "AGENTS.md", text: "Use tabs.\n" }]);
});

test("settings of a repository run no program when its state is told", async (t) => {
  const folder = scratch(t);
  const workspace = workspaceIn(folder, { "a.txt": "one\n", ".gitattributes": "*.txt filter=evil\n" });
  git(workspace, "init", "-q");
  git(workspace, "add", ".");
  const mark = join(workspace, "ran");
  for (const name of ["core.fsmonitor", "filter.evil.clean"]) git(workspace, "config", name, `touch ${mark}; cat`);
  writeFileSync(join(workspace, "a.txt"), "two, which is longer\n");
  await factsOf(t, folder);
  assert.throws(() => execFileSync("test", ["-e", mark]), "nothing was written");
});

test("guides are bounded together, are no links to secrets, and a folder without any tells none", async (t) => {
  const folder = scratch(t);
  const workspace = workspaceIn(folder, { "AGENTS.md": "x".repeat(100_000) });
  const { guides = [], git: state } = await factsOf(t, folder);
  assert.equal(state, undefined);
  const [text = ""] = guides.map((guide) => guide.text);
  assert.ok(text.length < HAND_LIMITS.guideBytes + 100);
  assert.match(text, /The rest is left out: read the file/);

  const other = scratch(t);
  const place = workspaceIn(other, { ".env": "TOKEN=abc\n" });
  symlinkSync(join(place, ".env"), join(place, "AGENTS.md"));
  assert.equal((await factsOf(t, other)).guides, undefined);
  assert.ok(workspace !== place);
});

test("AGENTS.md files of the folders above, up to that of the repository, come before the workspace's own", async (t) => {
  const folder = scratch(t);
  const workspace = workspaceIn(folder, { "AGENTS.md": "inner\n" });
  writeFileSync(join(folder, "AGENTS.md"), "outer\n");
  assert.deepEqual(
    (await factsOf(t, folder)).guides?.map(({ text }) => text),
    ["inner\n"],
    "without a repository the folders above are other people's",
  );
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  const { guides, git: branch } = await factsOf(t, folder);
  assert.deepEqual(guides, [
    { path: "../AGENTS.md", text: "outer\n" },
    { path: "AGENTS.md", text: "inner\n" },
  ]);
  assert.equal(branch, "main");
  assert.ok(workspace.startsWith(folder));
});

test("a hand tells the skills of the project and of the workspace, and none that leads elsewhere or has a name of several lines", async (t) => {
  const folder = scratch(t);
  const workspace = workspaceIn(folder, { ".keep": "" });
  const skill = (name: string, text: string): void => {
    const place = join(workspace, name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "SKILL.md"), text);
  };
  const text = (name: string): string => `---\nname: ${name}\ndescription: How ${name} is done.\n---\nDo it.\n`;
  skill(".agents/skills/release", text("release"));
  skill(".claude/skills/deploy", text("deploy"));
  skill(".claude/skills/again", text("release"));
  skill(".claude/skills/nothing", "no head");
  skill(".claude/skills/two\nlines", text("evil"));
  const outside = join(folder, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "SKILL.md"), text("outside"));
  symlinkSync(outside, join(workspace, ".claude/skills/link"));
  const { skills } = await factsOf(t, folder);
  assert.deepEqual(skills, [
    { name: "release", description: "How release is done.", path: ".agents/skills/release/SKILL.md" },
    { name: "deploy", description: "How deploy is done.", path: ".claude/skills/deploy/SKILL.md" },
  ]);
});

/** What the brain finds wrong with facts; undefined when it takes them. */
async function mismatchOf(facts: Surroundings): Promise<string | undefined> {
  const validate = (await loadSchemaCompiler()).compile(HOST_FACTS_SCHEMA);
  return explainMismatch(validate, facts, "the facts");
}

test("one skill of a hostile project does not cost the others: its description is one line of visible characters", async (t) => {
  const folder = scratch(t);
  const workspace = workspaceIn(folder, { ".keep": "" });
  const descriptions = {
    bell: "rings\u0007\u009b2J",
    bidi: "safe \u202egnihton\u2066 seod",
    hidden: "\u{e0049}\u{e0067}shown",
    long: "😀".repeat(1000),
    plain: "How it is done.",
    unseen: "\u200b\u2060",
  };
  for (const [name, description] of Object.entries(descriptions)) {
    const place = join(workspace, ".agents/skills", name);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "SKILL.md"), `---\nname: ${name}\ndescription: ${description}\n---\nDo it.\n`);
  }
  const facts = await factsOf(t, folder);
  assert.equal(await mismatchOf(facts), undefined);
  const told = new Map(facts.skills?.map(({ name, description }) => [name, description]));
  assert.deepEqual([...told.keys()], ["bell", "bidi", "hidden", "long", "plain"]);
  assert.equal(told.get("plain"), "How it is done.");
  assert.equal(told.get("bidi"), "safe gnihton seod");
  for (const description of told.values()) {
    assert.equal(description, printable(description));
    assert.ok(Array.from(description).length <= SKILL_LIMITS.descriptionChars && description.isWellFormed());
  }
});

test("the state of a repository with many long names is cut to what a brain takes", async (t) => {
  const folder = scratch(t);
  const deep = `${"d".repeat(200)}/${"e".repeat(200)}`;
  const workspace = workspaceIn(folder, {});
  mkdirSync(join(workspace, deep), { recursive: true });
  const names = Array.from({ length: 30 }, (_, nth) => `${deep}/${"f".repeat(200)}${nth}`);
  for (const name of names) writeFileSync(join(workspace, name), "one\n");
  git(workspace, "init", "-q", "-b", "trunk");
  git(workspace, "add", ".");
  git(workspace, "commit", "-qm", "first");
  for (const name of names) writeFileSync(join(workspace, name), "two, which is longer\n");
  const facts = await factsOf(t, folder);
  assert.equal(await mismatchOf(facts), undefined);
  assert.match(facts.git ?? "", /^trunk/);
});
