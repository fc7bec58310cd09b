import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseSkill, SKILL_FILE, SKILL_LIMITS } from "@vidro/core";
import type { SkillFacts } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type { HandContext } from "../tools/tool.ts";
import { readGuide } from "./project-file.ts";

/** A model is told the path, so that a name with a line break would be words of its own. */
const PLAIN_NAME = /^[\w.-]{1,64}$/;
/** Folders of a project that hold its skills. */
const FOLDERS = [".agents/skills", ".claude/skills"];

/** The skills of a project, of its root and of the workspace: name, description and place. They are data. */
export async function readProjectSkills(root: string, context: HandContext): Promise<readonly SkillFacts[]> {
  const found = new Map<string, SkillFacts>();
  for (const folder of new Set([context.workspace, root]))
    for (const skills of FOLDERS)
      for (const name of await namesIn(join(folder, skills))) {
        if (found.size === SKILL_LIMITS.skills) break;
        const path = join(folder, skills, name, SKILL_FILE);
        const place = { path, root, bytes: SKILL_LIMITS.headBytes };
        const skill = parseSkill(readGuide(place, context) ?? "");
        if (skill === undefined || found.has(skill.name)) continue;
        // Characters that a person who looks at the file cannot see say nothing to a model, either.
        const description = oneLine(skill.description, SKILL_LIMITS.descriptionChars);
        if (description === "") continue;
        found.set(skill.name, { name: skill.name, description, path: relative(context.workspace, path) });
      }
  return [...found.values()];
}

async function namesIn(folder: string): Promise<readonly string[]> {
  // Most projects have none, and each start of a run waits for the answer of another thread.
  if (!existsSync(folder)) return [];
  const names = (await readdir(folder).catch(() => [])).filter((name) => PLAIN_NAME.test(name)).sort();
  return names.slice(0, SKILL_LIMITS.folders);
}
