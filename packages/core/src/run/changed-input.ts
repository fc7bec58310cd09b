import { Fault } from "../fault.ts";
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { commandWords } from "../text/command-words.ts";
import type { Action } from "../tool.ts";

/** What a person changes in an action: fields of its input, or a command line. */
export type InputChange = JsonObject | string;

/**
 * The input of an action with a person's change. Named fields replace those of the model, and `null` leaves a field out;
 * a text is a JSON object with such fields, or what a command is to be. BAD_ARGUMENTS when it is neither.
 */
export function changeInput({ input }: Action, change: InputChange): JsonObject {
  const fields = typeof change === "string" ? fieldsIn(change, input) : change;
  return Object.fromEntries(Object.entries({ ...input, ...fields }).filter(([, value]) => value !== null));
}

function fieldsIn(words: string, input: JsonObject): JsonObject {
  const parsed = words.startsWith("{") ? parsedObject(words) : undefined;
  if (parsed !== undefined) return parsed;
  if (typeof input["command"] !== "string")
    throw new Fault("BAD_ARGUMENTS", "This plan is no command: name the fields to change as a JSON object.");
  if (!Array.isArray(input["args"])) return { command: words };
  const [command, ...args] = commandWords(words) ?? [];
  if (command === undefined) throw new Fault("BAD_ARGUMENTS", "A quote in the command is not closed.");
  return { command, args };
}

function parsedObject(words: string): JsonObject | undefined {
  let value: Json;
  try {
    value = JSON.parse(words) as Json;
  } catch {
    return undefined;
  }
  return isObject(value) ? value : undefined;
}
