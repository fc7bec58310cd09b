import { Fault, SKILL_LIMITS } from "@vidro/core";
import type { JsonObject, ToolSpec } from "@vidro/core";
import { oneLine, printable } from "@vidro/core/text";
import type { BrainTool } from "./brain-tool.ts";

/** A skill that a model may load. */
interface LoadedSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

/** The skills of a brain, and their other files. */
interface SkillSource<Skill extends LoadedSkill> {
  readonly skills: readonly Skill[];
  readonly files: (skill: Skill) => readonly string[];
  readonly read: (skill: Skill, file: string) => string;
}

/** The tool by which a model loads a skill that its operator keeps in the home; none when there are no skills. */
export function skillTools<Skill extends LoadedSkill>({
  skills,
  files,
  read,
}: SkillSource<Skill>): readonly BrainTool[] {
  if (skills.length === 0) return [];
  const find = ({ name: wanted, file, ...others }: JsonObject): { readonly skill: Skill; readonly file?: string } => {
    const skill = skills.find(({ name }) => name === wanted);
    if (skill === undefined)
      throw new Fault(
        "BAD_ARGUMENTS",
        `There is no such skill; there are: ${skills.map(({ name }) => name).join(", ")}.`,
      );
    const [stray] = Object.keys(others);
    if (stray !== undefined)
      throw new Fault("BAD_ARGUMENTS", `skill: there is no field ${stray}; it takes name and file.`);
    if (file === undefined) return { skill };
    if (typeof file === "string" && file !== "" && file.length <= SKILL_LIMITS.pathChars) return { skill, file };
    throw new Fault("BAD_ARGUMENTS", `skill: file is a path of 1 to ${SKILL_LIMITS.pathChars} characters.`);
  };
  return [
    {
      spec: specOf(skills),
      class: "read",
      reason: "it reads the brain's own skills",
      check: (input) => void find(input),
      async run(input) {
        const { skill, file } = find(input);
        // Words that the operator could not see when they looked at the file are not the operator's.
        if (file !== undefined)
          return { kind: "value", text: printable(read(skill, file)), data: { name: skill.name, file } };
        const others = files(skill);
        const tail = others.length === 0 ? "" : `\n\n[Other files of this skill: ${others.join(", ")}]`;
        return { kind: "value", text: printable(skill.body) + tail, data: { name: skill.name, files: [...others] } };
      },
    },
  ];
}

function specOf(skills: readonly LoadedSkill[]): ToolSpec {
  const rows = skills.map(
    ({ name, description }) => `- ${name}: ${oneLine(description, SKILL_LIMITS.descriptionChars)}`,
  );
  return {
    name: "skill",
    description: `Loads how something is done here, as the operator of this brain wrote it. Load the one that fits the task before you begin:\n${rows.join("\n")}`,
    parameters: {
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string", enum: skills.map(({ name }) => name) },
        file: {
          type: "string",
          minLength: 1,
          maxLength: SKILL_LIMITS.pathChars,
          description: "Another file of the skill.",
        },
      },
      additionalProperties: false,
    },
    idempotent: true,
    effect: "read",
  };
}
