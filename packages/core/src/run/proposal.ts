import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { PROPOSAL_LIMITS } from "../limits.ts";
import { isWrapper, unsafeOptions } from "../policy/command.ts";
import { lastSegment } from "../policy/path.ts";
import { escapeInvisible, isPlainJson, quoteWord } from "../text/printable.ts";
import { isReservedTool } from "./prompt.ts";
import type { ToolSpec } from "../tool.ts";

/*
 * A tool that a model proposes: a program with arguments. A person approves the template once, so the template has to
 * say which program runs and where inputs go: an input is never a program, an option or a part of a command.
 */

/** A tool as a model proposes it. */
export type ToolProposal = ToolSpec & { readonly argv: readonly string[] };

/** The proposed tool, or why it is none, in a sentence for the model; `taken` are the names of the run's tools. */
export function readProposal(input: JsonObject, taken: ReadonlySet<string>): ToolProposal | string {
  const { name = "", description = "", command = "", args = [] } = input;
  const why =
    nameMisfit(name, taken) ??
    textMisfit(description, "the description") ??
    (Array.isArray(args) ? templateMisfit([command, ...args]) : "the arguments are a list of texts.");
  if (why !== undefined) return notProposed(why);
  const argv = [command, ...(args as readonly Json[])] as readonly string[];
  const parameters = input["parameters"] ?? derivedParameters(argv);
  const misfit = schemaMisfit(parameters) ?? undeclaredInput(argv, parameters as JsonObject);
  if (misfit !== undefined) return notProposed(misfit);
  return {
    name: name as string,
    description: description as string,
    parameters: parameters as JsonObject,
    idempotent: false,
    argv,
  };
}

function notProposed(why: string): string {
  return `Not proposed: ${why}`;
}

function nameMisfit(name: Json, taken: ReadonlySet<string>): string | undefined {
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,63}$/.test(name))
    return "a tool's name is in snake_case, at most 64 characters.";
  return taken.has(name) || isReservedTool(name) ? `there is a tool named ${name} already.` : undefined;
}

function textMisfit(text: Json, what: string): string | undefined {
  if (typeof text !== "string" || text.length > PROPOSAL_LIMITS.textChars)
    return `${what} is a text of at most ${PROPOSAL_LIMITS.textChars} characters.`;
  return isPlainJson(JSON.stringify(text)) ? undefined : `${what} has hidden characters; leave them out.`;
}

/** The input that a word of a template takes: the whole word, or what is behind `--option=`. */
const SLOT = /^(?<fixed>--[A-Za-z][\w-]*=)?\{(?<input>[A-Za-z]\w*)\}$/;

/** Anything that is replaced when the tool is used. */
const REPLACED = /\{\w+\}/;

/** The name of the input in a word and the text before it; undefined for a word of fixed text. */
function slotOf(word: string): { readonly fixed: string; readonly input: string } | undefined {
  const { fixed = "", input } = SLOT.exec(word)?.groups ?? {};
  return input === undefined ? undefined : { fixed, input };
}

/** Why a list of words is no template of a command; undefined when it is one. */
function templateMisfit(argv: readonly Json[]): string | undefined {
  if (argv.length > PROPOSAL_LIMITS.words) return `a command has at most ${PROPOSAL_LIMITS.words} words.`;
  for (const word of argv) {
    if (typeof word !== "string" || word.length > PROPOSAL_LIMITS.wordChars)
      return `each word of the command is a text of at most ${PROPOSAL_LIMITS.wordChars} characters.`;
    if (escapeInvisible(word) !== word) return `the word ${quoteWord(word)} has hidden characters; leave them out.`;
  }
  const [program, ...args] = argv as readonly string[];
  if (program === undefined || !/^[\w./+][\w./+-]*$/.test(program))
    return "the program is fixed text: the name or the path of a program, without inputs, blanks or quotes.";
  const odd = args.find((word) => REPLACED.test(word) && slotOf(word) === undefined);
  if (odd !== undefined)
    return `in ${quoteWord(odd)} an input is a part of a word; it is a whole word, {name}, or --option={name}.`;
  return args.some((word) => slotOf(word) !== undefined) ? commandMisuse(program, args) : undefined;
}

/** Why inputs may not go to this command: what they hold could be run as a program. */
function commandMisuse(program: string, args: readonly string[]): string | undefined {
  const wrapper = [program, ...args].find((word) => isWrapper(lastSegment(word)));
  if (wrapper !== undefined)
    return `${lastSegment(wrapper)} runs what it is given, so that no input may go there; name the program itself.`;
  const options = args.map((word) => word.split("=", 1)[0] ?? "");
  const [option] = unsafeOptions(lastSegment(program), options);
  return option === undefined
    ? undefined
    : `the option ${option} of ${lastSegment(program)} names a program or a file to write, so that no input may go there.`;
}

/** The schema of a template without one: each input is a text, and none may be left out. */
function derivedParameters(argv: readonly string[]): JsonObject {
  const inputs = [...new Set(argv.flatMap((word) => slotOf(word)?.input ?? []))];
  const properties = Object.fromEntries(inputs.map((input) => [input, { type: "string" }]));
  return { type: "object", properties, ...(inputs.length === 0 ? {} : { required: inputs }) };
}

function undeclaredInput(argv: readonly string[], parameters: JsonObject): string | undefined {
  const stray = argv
    .flatMap((word) => slotOf(word)?.input ?? [])
    .find((input) => fieldOf(parameters, input) === undefined);
  return stray === undefined ? undefined : `{${stray}} is no property of the parameters; declare it, with its type.`;
}

function fieldOf({ properties }: JsonObject, name: string): JsonObject | undefined {
  const field = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(field) ? field : undefined;
}

const SCHEMA_WORDS = new Set(["type", "properties", "required", "additionalProperties", "description", "title"]);
const FIELD_WORDS = new Set(["type", "description", "title", "enum", "default", "minimum", "maximum", "maxLength"]);
const KINDS: { readonly [kind: string]: (value: Json) => boolean } = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === "boolean",
};

/** Why a value is no schema of plain fields; undefined when it is one. */
function schemaMisfit(schema: Json): string | undefined {
  if (!isObject(schema) || (schema["type"] ?? "object") !== "object")
    return "the parameters are a JSON Schema of the type object.";
  const text = JSON.stringify(schema);
  if (text.length > PROPOSAL_LIMITS.schemaChars)
    return `the parameters have at most ${PROPOSAL_LIMITS.schemaChars} characters.`;
  if (!isPlainJson(text)) return "the parameters have hidden characters; leave them out.";
  const { properties = {}, required = [] } = schema;
  const word = Object.keys(schema).find((key) => !SCHEMA_WORDS.has(key));
  if (word !== undefined) return `the parameters have no ${JSON.stringify(word)}; plain properties are enough.`;
  if (!isObject(properties)) return "the properties of the parameters are an object.";
  const fields = Object.entries(properties);
  if (fields.length > PROPOSAL_LIMITS.fields) return `a tool has at most ${PROPOSAL_LIMITS.fields} properties.`;
  if (!Array.isArray(required) || required.some((name) => fieldOf(schema, String(name)) === undefined))
    return "what is required is a list of properties.";
  return fields.map(([name, field]) => fieldMisfit(name, field ?? null)).find((why) => why !== undefined);
}

function fieldMisfit(name: string, field: Json): string | undefined {
  // `hand` says where a command runs, in runs with several hands.
  if (!/^[A-Za-z]\w{0,63}$/.test(name) || name === "hand")
    return `${JSON.stringify(name)} cannot be the name of a property; use letters, digits and underscores.`;
  if (!isObject(field) || typeof field["type"] !== "string" || !Object.hasOwn(KINDS, field["type"]))
    return `the property ${name} has one of the types ${Object.keys(KINDS).join(", ")}.`;
  const word = Object.keys(field).find((key) => !FIELD_WORDS.has(key));
  if (word !== undefined) return `the property ${name} has no ${JSON.stringify(word)}; leave it out.`;
  const { enum: choices = [], minimum = 0, maximum = 0, maxLength = 0 } = field;
  if (!Array.isArray(choices) || !choices.every((choice) => KINDS[field["type"] as string]?.(choice) === true))
    return `the choices of the property ${name} are of its type.`;
  const isBounded = [minimum, maximum, maxLength].every((bound) => typeof bound === "number");
  return isBounded ? undefined : `the bounds of the property ${name} are numbers.`;
}

/** Why an input is none of an approved tool, in a sentence for the model; undefined when the tool can be used with it. */
export function proposedInputMisfit({ argv = [], parameters }: ToolSpec, input: JsonObject): string | undefined {
  for (const word of argv) {
    const slot = slotOf(word);
    if (slot === undefined) continue;
    const value = Object.hasOwn(input, slot.input) ? input[slot.input] : undefined;
    if (value === undefined) return `The input ${slot.input} is missing.`;
    const why = valueMisfit(value, fieldOf(parameters, slot.input) ?? {});
    if (why !== undefined) return `The input ${slot.input} ${why}.`;
    if (slot.fixed === "" && JSON.stringify(value).replace(/^"/, "").startsWith("-"))
      return `The input ${slot.input} begins with a dash, so that the program would read it as an option.`;
  }
  return undefined;
}

function valueMisfit(value: Json, field: JsonObject): string | undefined {
  const { type, enum: choices, minimum, maximum, maxLength } = field;
  if (typeof type === "string" && KINDS[type]?.(value) === false) return `is not of the type ${type}`;
  if (typeof value === "object") return "is not a text, a number or a truth value";
  if (Array.isArray(choices) && !choices.includes(value)) return `is none of ${JSON.stringify(choices)}`;
  if (typeof minimum === "number" && typeof value === "number" && value < minimum) return `is less than ${minimum}`;
  if (typeof maximum === "number" && typeof value === "number" && value > maximum) return `is more than ${maximum}`;
  if (typeof maxLength === "number" && typeof value === "string" && value.length > maxLength)
    return `has more than ${maxLength} characters`;
  return undefined;
}
