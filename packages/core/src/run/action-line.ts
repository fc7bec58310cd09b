import type { FaultReport } from "../fault.ts";
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { RUN_LIMITS } from "../limits.ts";
import { CONTROL_TOOLS } from "./prompt.ts";

/* The action language: one JSON object on a line of its own, for models that call no tools. */

/** One call or action line of a reply. */
export interface ReplyItem {
  /** aside: only recorded. action: has an effect. ask, propose, done: ends the step. */
  readonly kind: "aside" | "action" | "ask" | "propose" | "done";
  readonly name: string;
  readonly input: JsonObject;
  /** The model's id of a native call. */
  readonly callId?: string;
  readonly fault?: FaultReport;
  /** The action line; absent for a native call. */
  readonly line?: string;
}

/** Names of the control tools, which have no effect on a host. */
export const CONTROL_TOOL_NAMES: ReadonlySet<string> = new Set(CONTROL_TOOLS.map(({ name }) => name));

/** A line of the action language, or undefined when it is prose. */
export function readActionLine(line: string): ReplyItem | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const word = value["type"] === "action" ? value["action"] : (value["type"] ?? value["action"]);
  switch (word) {
    case "plan":
    case "observe":
    case "commit_kb":
    case "ask":
    case "tool_spec":
    case "done":
      return itemOfCall(word, value);
    case "shell":
      return { kind: "action", name: "shell", input: omitFields(value, "type", "action") };
    case "research":
      return { kind: "action", name: "research", input: omitFields(value, "type", "action") };
    case "use_tool":
      return usedTool(value);
    default:
      return undefined;
  }
}

/** The item of a call by the name of its tool. */
export function itemOfCall(name: string, input: JsonObject): ReplyItem {
  if (name === "use_tool") return usedTool(input);
  const kind =
    name === "ask"
      ? "ask"
      : name === "tool_spec"
        ? "propose"
        : name === "done"
          ? "done"
          : CONTROL_TOOL_NAMES.has(name)
            ? "aside"
            : "action";
  return { kind, name, input };
}

/** The call of the tool that a `use_tool` names. */
function usedTool({ name, args }: JsonObject): ReplyItem {
  return { kind: "action", name: boundedText(name), input: isObject(args) ? args : {} };
}

/** A value as a text of bounded length. */
export function boundedText(value: Json | undefined): string {
  return (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)).slice(
    0,
    RUN_LIMITS.lineChars,
  );
}

function omitFields(value: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}
