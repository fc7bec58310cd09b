import { REGISTER_LIMITS } from "@vidro/core";
import { isReservedTool } from "@vidro/core/run";
import { isPlainJson, oneLine } from "@vidro/core/text";
import type { JsonObject, ToolSpec } from "@vidro/core";
import { shareTools } from "./share-tools.ts";

/** A tool as a hand describes it. */
export type OfferedTool = Pick<ToolSpec, "name" | "description" | "parameters" | "effect">;

/** The tools that a hand offers, and the standard tools of the brain. */
interface ToolOffer {
  readonly offered: readonly OfferedTool[];
  readonly standard: readonly ToolSpec[];
  /** The name of the hand. */
  readonly host: string;
}

/** The tools of a hand that the brain accepted, and the names of those that it refused. */
export interface AcceptedTools {
  readonly tools: readonly ToolSpec[];
  /** Names of the refused tools. */
  readonly refused: readonly string[];
}

/** A tool name that every model server accepts. */
const NAME = /^[A-Za-z_][\w-]{0,63}$/;

/**
 * The tools of a hand as models get them. A standard tool has the brain's own description and schema, whatever the hand
 * sends. An own tool of the hand is marked as such, its description names the host as its source, and it is refused when
 * its name is reserved or malformed, or its schema is too long or has invisible characters.
 */
export function acceptTools({ offered, standard, host }: ToolOffer): AcceptedTools {
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
  // The host does not decide whether a tool may be repeated: only one that reads may.
  return { name, description, parameters, idempotent: effect === "read", effect, own: true };
}

/** Whether a schema is short enough and has no invisible characters. */
function isPlain(schema: JsonObject): boolean {
  const text = JSON.stringify(schema);
  return text.length <= REGISTER_LIMITS.schemaChars && isPlainJson(text);
}
