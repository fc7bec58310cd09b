import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { SKILL_LIMITS } from "@vidro/core";
import { readAgents } from "./agent-files.ts";
import { readSkillFile, readSkills, skillFiles } from "./skill-files.ts";

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "vidro-skills-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const text = (name: string, body = "Do it."): string =>
  `---\nname: ${name}\ndescription: How ${name} works.\n---\n${body}\n`;

/** Makes a skill in a folder of its own. */
function addSkill(place: string, name: string, called = name): string {
  const path = join(place, name);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "SKILL.md"), text(called));
  return path;
}

/** The only skill of a folder. */
function onlySkill(place: string) {
  const [skill, ...others] = readSkills(place);
  assert.ok(skill);
  assert.deepEqual(others, []);
  return skill;
}

void test("skills are read in the order of their folders; of two with one name the later is taken", (t) => {
  const place = folder(t);
  for (const name of ["b", "a", "c"]) addSkill(place, name);
  addSkill(place, "d", "a");
  const skills = readSkills(place);
  assert.deepEqual(
    skills.map(({ name }) => name),
    ["a", "b", "c"],
  );
  assert.equal(skills[0]?.folder, join(place, "d"));
  assert.equal(skills[0].body, "Do it.");
});

void test("no folder, a file in its place, and folders without a usable SKILL.md give no skills", (t) => {
  const place = folder(t);
  assert.deepEqual(readSkills(join(place, "none")), []);
  writeFileSync(join(place, "file"), "x");
  assert.deepEqual(readSkills(join(place, "file")), []);
  mkdirSync(join(place, "empty"));
  mkdirSync(join(place, "folder", "SKILL.md"), { recursive: true });
  mkdirSync(join(place, "rubbish"));
  writeFileSync(join(place, "rubbish", "SKILL.md"), "no head");
  mkdirSync(join(place, "large"));
  writeFileSync(join(place, "large", "SKILL.md"), text("large", "x".repeat(SKILL_LIMITS.fileBytes)));
  addSkill(place, "sound");
  assert.equal(onlySkill(place).name, "sound");
});

void test("skills beyond the bound are left out", (t) => {
  const place = folder(t);
  for (let at = 0; at < SKILL_LIMITS.skills + 3; at += 1) addSkill(place, `s${String(at).padStart(3, "0")}`);
  assert.equal(readSkills(place).length, SKILL_LIMITS.skills);
});

void test("a pipe in the place of a file is never waited for: not as a skill, not as its file, not as an agent", async (t) => {
  if (process.platform === "win32") return t.skip("no pipes in folders");
  const place = folder(t);
  mkdirSync(join(place, "pipe"));
  execFileSync("mkfifo", [join(place, "pipe", "SKILL.md")]);
  const sound = addSkill(place, "sound");
  execFileSync("mkfifo", [join(sound, "notes.md"), join(place, "agent.md")]);
  const skill = onlySkill(place);
  assert.throws(() => readSkillFile(skill, "notes.md"), {
    code: "TOOL_FAILED",
    message: /no file notes.md: it is no file/,
  });
  assert.deepEqual(skillFiles(skill), []);
  await assert.rejects(readAgents(place), { code: "BAD_REQUEST", message: /agent\.md is no file/ });
});

void test("a folder with the name of an agent's file is refused by name", async (t) => {
  const place = folder(t);
  mkdirSync(join(place, "helper.md"));
  await assert.rejects(readAgents(place), { code: "BAD_REQUEST", message: /helper\.md is no file/ });
});

void test("a file of a skill is read only from inside its folder, wherever links and dots lead", (t) => {
  const place = folder(t);
  const path = addSkill(place, "sound");
  const skill = onlySkill(place);
  writeFileSync(join(place, "secret"), "s3cret");
  mkdirSync(join(place, "sound-beside"));
  writeFileSync(join(place, "sound-beside", "near"), "near");
  mkdirSync(join(path, "deep"));
  writeFileSync(join(path, "deep", "note"), "inside");
  symlinkSync("../secret", join(path, "link"));
  symlinkSync("deep/note", join(path, "inner"));
  assert.equal(readSkillFile(skill, "deep/note"), "inside");
  assert.equal(readSkillFile(skill, "inner"), "inside");
  assert.equal(readSkillFile(skill, "deep/../deep/note"), "inside");
  for (const outside of ["../secret", "link", "../sound-beside/near", "..", "deep/../.."])
    assert.throws(() => readSkillFile(skill, outside), { code: "TOOL_FAILED", message: /it lies elsewhere/ }, outside);
  for (const absent of ["none", "a\0b"])
    assert.throws(() => readSkillFile(skill, absent), { code: "TOOL_FAILED", message: /it cannot be read/ });
  assert.throws(() => readSkillFile(skill, "deep"), { code: "TOOL_FAILED", message: /it is no file/ });
});

void test("a file of a skill beyond the bound is refused with its bound", (t) => {
  const place = folder(t);
  const path = addSkill(place, "sound");
  writeFileSync(join(path, "large"), "x".repeat(SKILL_LIMITS.fileBytes + 1));
  writeFileSync(join(path, "full"), "x".repeat(SKILL_LIMITS.fileBytes));
  const skill = onlySkill(place);
  assert.throws(() => readSkillFile(skill, "large"), { message: /larger than 65536 bytes/ });
  assert.equal(readSkillFile(skill, "full").length, SKILL_LIMITS.fileBytes);
});

void test("the other files of a skill are named with their paths, in order and bounded", (t) => {
  const place = folder(t);
  const path = addSkill(place, "sound");
  mkdirSync(join(path, "notes"));
  for (const name of ["z", "notes/b", "notes/a", "notes/SKILL.md"]) writeFileSync(join(path, name), "");
  const skill = onlySkill(place);
  assert.deepEqual(skillFiles(skill), ["notes/SKILL.md", "notes/a", "notes/b", "z"]);
  for (let at = 0; at < SKILL_LIMITS.files; at += 1) writeFileSync(join(path, `more-${at}`), "");
  assert.equal(skillFiles(skill).length, SKILL_LIMITS.files);
});
