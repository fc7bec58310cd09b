import { REGISTER_LIMITS, isObject, textIn, TOOL_EFFECTS } from "@vidro/core";
import type { Json, ToolSpec } from "@vidro/core";
import { acceptTools } from "../register/accept-tools.ts";
import type { OfferedTool } from "../register/accept-tools.ts";

/** The well-formed fields of a hand's own description. */
interface TcpHandInfo {
  readonly name?: string;
  readonly version?: string;
  readonly workspace: string;
  readonly tools: readonly ToolSpec[];
  readonly receiptKey?: string;
}

/** The tools that every server of the protocol has. */
const PROTOCOL: readonly string[] = ["command", "os_info", "processes"];

/** Reads a hand's own description; without one the hand has the tools of the protocol only. */
export function describeTcpHand(said: Json | undefined, host: string, standard: readonly ToolSpec[]): TcpHandInfo {
  if (!isObject(said)) return { workspace: "", tools: standard.filter(({ name }) => PROTOCOL.includes(name)) };
  const listed = Array.isArray(said["tools"]) ? (said["tools"] as readonly Json[]) : [];
  const receiptKey = textIn(said, "receiptKey");
  const [name, version] = [short(textIn(said, "name")), short(textIn(said, "version"))];
  return {
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    ...(receiptKey !== undefined && KEY.test(receiptKey) ? { receiptKey } : {}),
    workspace: textIn(said, "workspace") ?? "",
    tools: acceptTools({ offered: listed.slice(0, REGISTER_LIMITS.tools).flatMap(toolIn), standard, host }).tools,
  };
}

/** A public key in hexadecimal digits. */
const KEY = /^[0-9a-f]{64}$/;

function short(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text.slice(0, REGISTER_LIMITS.nameChars);
}

function toolIn(said: Json): readonly OfferedTool[] {
  if (!isObject(said)) return [];
  const { name, description, parameters } = said;
  if (typeof name !== "string" || typeof description !== "string" || !isObject(parameters)) return [];
  const effect = TOOL_EFFECTS.find((one) => one === said["effect"]);
  return [{ name, description, parameters, ...(effect === undefined ? {} : { effect }) }];
}
