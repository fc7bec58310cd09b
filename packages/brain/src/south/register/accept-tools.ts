import { REGISTER_LIMITS } from "@vidro/core";
import { isReservedTool } from "@vidro/core/run";
import { oneLine, printable } from "@vidro/core/text";
import type { JsonObject, ToolSpec } from "@vidro/core";
import { shareTools } from "./share-tools.ts";

/** A tool as a hand speaks of it. */
export type OfferedTool = Pick<ToolSpec, "name" | "description" | "parameters" | "effect">;

/** What a hand offers: where the words come from, and what the brain has words of its own for. */
interface Offering {
  readonly offered: readonly OfferedTool[];
  readonly standard: readonly ToolSpec[];
  /** What the hand is called. */
  readonly host: string;
}

/** What became of the tools that a hand offered. */
export interface AcceptedTools {
  readonly tools: readonly ToolSpec[];
  /** Names of those that it does not have here. */
  readonly refused: readonly string[];
}

/** A name that every model's server takes. */
const NAME = /^[A-Za-z_][\w-]{0,63}$/;

/**
 * The tools of a hand as models are told of them. A standard tool has the brain's own words and schema, whatever the
 * hand says of it. A tool that only this hand has is marked as such, is described as in the words of its host, and is
 * refused when its name means something else or when it has more or other characters than it may.
 */
export function acceptTools({ offered, standard, host }: Offering): AcceptedTools {
  const tools = new Map<string, ToolSpec>();
  const refused: string[] = [];
  let [own, chars] = [0, 0];
  for (const one of offered) {
    const known = standard.find(({ name }) => name === one.name);
    const tool = known ?? ownTool(one, host);
    const size = known === undefined && tool !== undefined ? JSON.stringify(tool).length : 0;
    const isTooMuch =
      known === undefined && (own >= REGISTER_LIMITS.ownTools || chars + size > REGISTER_LIMITS.ownToolsChars);
    if (tool === undefined || isTooMuch || tools.has(tool.name) || tools.size >= REGISTER_LIMITS.tools) {
      refused.push(oneLine(one.name, REGISTER_LIMITS.nameChars));
      continue;
    }
    tools.set(tool.name, tool);
    own += known === undefined ? 1 : 0;
    chars += size;
  }
  return { tools: shareTools([...tools.values()]), refused };
}

function ownTool(offered: OfferedTool, host: string): ToolSpec | undefined {
  const { name, parameters, effect = "write" } = offered;
  if (!NAME.test(name) || isReservedTool(name) || !isPlain(parameters)) return undefined;
  const words = oneLine(offered.description, REGISTER_LIMITS.wordsChars);
  const description = `Only on the host ${JSON.stringify(oneLine(host, REGISTER_LIMITS.nameChars))}, which says of it: ${words}`;
  // Whether it may be done twice is not the word of its host: only what changes nothing may.
  return { name, description, parameters, idempotent: effect === "read", effect, own: true };
}

/** Whether a schema is short enough and has no character that a reader cannot see. */
function isPlain(schema: JsonObject): boolean {
  const text = JSON.stringify(schema);
  // What JSON spells as \uXXXX is a control character or half of a character; a backslash itself comes in pairs.
  const isSpelled = /\\[ubfr]/.test(text.replaceAll("\\\\", ""));
  return text.length <= REGISTER_LIMITS.schemaChars && !isSpelled && printable(text) === text;
}
