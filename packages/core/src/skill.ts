/* A skill is a folder with a file SKILL.md: a head with its name and description, and below it how something is done. */

/** Name of the file that makes a folder a skill. */
export const SKILL_FILE = "SKILL.md";

/** A skill as its file describes it. */
export interface SkillText {
  readonly name: string;
  /** When it is of use. */
  readonly description: string;
  /** What is below the head. */
  readonly body: string;
}

const FILE = /^---\n([\s\S]*?)^---[ \t]*(?:\n([\s\S]*))?$/m;
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Parses a SKILL.md, or its beginning; undefined when it has no head with a name and a description. */
export function parseSkill(source: string): SkillText | undefined {
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const [, head = "", body = ""] = (text.startsWith("---\n") && FILE.exec(text)) || [];
  const [name, description] = [fieldIn(head, "name"), fieldIn(head, "description")];
  return description === "" || !NAME.test(name) ? undefined : { name, description, body: body.trim() };
}

/** A field of the head: the rest of its line, or the indented lines below it. */
function fieldIn(head: string, key: string): string {
  const [, line = "", block = ""] = new RegExp(`^${key}:[ \\t]*(.*)\\n?((?:[ \\t]+.*\\n?)*)`, "m").exec(head) ?? [];
  const isBlock = line === "" || /^[|>][+-]?$/.test(line);
  const value = (isBlock ? block : `${line} ${block}`).replaceAll(/\s+/g, " ").trim();
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value;
}
