import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { Fault, parseSkill, SKILL_FILE, SKILL_LIMITS } from "@vidro/core";
import type { SkillText } from "@vidro/core";

/** A skill in the home of a brain. */
interface HomeSkill extends SkillText {
  readonly folder: string;
}

/** The skills in the folders of a folder, by name; a folder without a readable SKILL.md is left out. */
export function readSkills(folder: string): readonly HomeSkill[] {
  const names = namesIn(folder).slice(0, SKILL_LIMITS.skills);
  const skills = names.flatMap((name): HomeSkill[] => {
    const skill = readSkill(join(folder, name));
    return skill === undefined ? [] : [skill];
  });
  return [...new Map(skills.map((skill) => [skill.name, skill])).values()];
}

/** The text of a file of a skill; TOOL_FAILED when there is none, it is too large, or it lies outside. */
export function readSkillFile({ folder, name }: HomeSkill, file: string): string {
  const fail = (why: string): Fault => new Fault("TOOL_FAILED", `The skill ${name} has no file ${file}: ${why}.`);
  try {
    const [root, path] = [realpathSync(folder), realpathSync(join(folder, file))];
    if (!path.startsWith(`${root}/`)) throw fail("it lies elsewhere");
    const found = statSync(path);
    if (!found.isFile()) throw fail("it is no file");
    if (found.size > SKILL_LIMITS.fileBytes) throw fail(`it is larger than ${SKILL_LIMITS.fileBytes} bytes`);
    return readFileSync(path, "utf8");
  } catch (thrown) {
    throw thrown instanceof Fault ? thrown : fail("it cannot be read");
  }
}

/** The paths of a skill's other files. */
export function skillFiles({ folder }: HomeSkill): readonly string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  return paths
    .filter((path) => path !== SKILL_FILE)
    .sort()
    .slice(0, SKILL_LIMITS.files);
}

function readSkill(folder: string): HomeSkill | undefined {
  try {
    const path = join(folder, SKILL_FILE);
    const found = statSync(path);
    // Reading a pipe that nothing writes to would stop the whole process.
    if (!found.isFile() || found.size > SKILL_LIMITS.fileBytes) return undefined;
    const skill = parseSkill(readFileSync(path, "utf8"));
    return skill === undefined ? undefined : { ...skill, folder };
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
