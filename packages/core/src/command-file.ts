import { COMMAND_FILE_LIMITS } from "./limits.ts";
import { escapeInvisible, oneLine } from "./text/printable.ts";

/* A command of a person's own: a Markdown file with words for the agent, with places for what is typed behind its name. */

/** A command as its file describes it. */
export interface CommandText {
  readonly description: string;
  /** What is to be typed behind its name. */
  readonly hint?: string;
  /** The words for the agent. */
  readonly body: string;
}

const FILE = /^---\n([\s\S]*?)^---[ \t]*(?:\n([\s\S]*))?$/m;
/** Signs that join or colour the parts of an emoji. */
const EMOJI_JOINTS = /(?<=\p{Extended_Pictographic}\p{M}?)[\uFE0F\u200D]+/gu;

/** Parses the file of a command; undefined when it has no words. Fields that would change what it may do are ignored. */
export function parseCommandFile(source: string): CommandText | undefined {
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const [, head = "", below = ""] = (text.startsWith("---\n") && FILE.exec(text)) || ["", "", text];
  const body = below.trim();
  if (body === "") return undefined;
  const hint = fieldOf(head, "argument-hint");
  const description = fieldOf(head, "description") || (body.split("\n", 1)[0] ?? "").replace(/^#+\s*/, "");
  return {
    description: oneLine(description, COMMAND_FILE_LIMITS.descriptionChars),
    body,
    ...(hint === "" ? {} : { hint: oneLine(hint, COMMAND_FILE_LIMITS.hintChars) }),
  };
}

function fieldOf(head: string, key: string): string {
  const [, value = ""] = new RegExp(`^${key}:[ \\t]*(.*)$`, "m").exec(head) ?? [];
  const trimmed = value.trim();
  return /^(["']).*\1$/.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}

/** The first characters of a text that a person cannot see, escaped; undefined when all can be seen. */
export function hiddenCharacters(text: string): string | undefined {
  const seen = text.replaceAll(EMOJI_JOINTS, "").replaceAll(/[\n\t]/g, " ");
  const found = Array.from(seen).filter((point) => escapeInvisible(point) !== point && point !== "\u00a0");
  return found.length === 0
    ? undefined
    : found.slice(0, COMMAND_FILE_LIMITS.shownHidden).map(escapeInvisible).join(" ");
}

/** The words of a command with what was typed behind its name: as `$ARGUMENTS`, `$1` to `$9`, or below the words. */
export function fillCommand({ body }: Pick<CommandText, "body">, typed: string): string {
  const words = typed.split(/\s+/).filter((word) => word !== "");
  const hasPlaces = /\$(?:ARGUMENTS\b|[1-9](?!\d))/.test(body);
  if (!hasPlaces) return typed === "" ? body : `${body}\n\n${typed}`;
  // In one pass, so that a dollar sign in what was typed stands for itself.
  return body.replaceAll(/\$(ARGUMENTS\b|[1-9](?!\d))/g, (_, place: string) =>
    place === "ARGUMENTS" ? typed : (words[Number(place) - 1] ?? ""),
  );
}
