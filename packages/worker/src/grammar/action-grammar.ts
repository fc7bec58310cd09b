import { Fault, WORKER_LIMITS, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { isReservedTool } from "@vidro/core/run";
import type { WorkerTool } from "@vidro/core/wire/worker";

/*
 * A grammar (GBNF) for one action line: a call of one of the tools with input that fits its JSON Schema, or the end of
 * the task. What a schema says beyond types, values, properties and items is left to the hand, which checks it.
 */

/** Rules that every grammar has. Strings have no line break, so that an action stays on its line. */
const COMMON = `ws ::= " "?
char ::= [^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})
string ::= "\\"" char* "\\""
text ::= "\\"" char+ "\\""
digits ::= "0" | [1-9] [0-9]{0,14}
integer ::= "-"? digits
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,3})?
boolean ::= "true" | "false"
object ::= "{" ws (string ":" ws any ("," ws string ":" ws any)*)? ws "}"
array ::= "[" ws (any ("," ws any)*)? ws "]"
any ::= object | array | string | number | boolean | "null"`;

/** The grammar of an action for these tools; the end of the task is one too unless a tool is required. */
export function actionGrammar(tools: readonly WorkerTool[], isToolRequired: boolean): string {
  const writer = new GrammarWriter();
  const done = isToolRequired ? [] : [writer.object({ type: { const: "done" }, result: { type: "string" } })];
  const root = [...tools.map((tool) => writer.object(...callOf(tool))), ...done].join(" | ");
  const grammar = [`root ::= ${root}`, ...writer.rules, COMMON].join("\n");
  if (grammar.length <= WORKER_LIMITS.grammarChars) return grammar;
  throw new Fault(
    "BAD_REQUEST",
    `The schemas of the tools make a grammar of more than ${WORKER_LIMITS.grammarChars} characters.`,
  );
}

/** The fields of a call as an action line: those of a control tool stand beside its name. */
function callOf({ name, parameters }: WorkerTool): [fields: JsonObject, required?: readonly string[]] {
  if (!isReservedTool(name)) return [{ type: { const: "use_tool" }, name: { const: name }, args: parameters }];
  const { properties, required } = parameters;
  return [
    { type: { const: name }, ...(isObject(properties) ? properties : {}) },
    ["type", ...(Array.isArray(required) ? required.map(String) : [])],
  ];
}

/** Writes rules for the objects of schemas, each under a name of its own. */
class GrammarWriter {
  readonly rules: string[] = [];

  /** The name of a new rule for an object; its required fields come first, since they need no comma before them. */
  object(properties: JsonObject, required: readonly string[] = Object.keys(properties), depth = 0): string {
    const field = (name: string): string => `${literal(name)} ":" ws ${this.value(properties[name], depth + 1)}`;
    const names = Object.keys(properties);
    const first = names.filter((name) => required.includes(name)).map(field);
    const others = names.filter((name) => !required.includes(name)).map(field);
    // Every optional field may be the first one: beyond some, that many ways are not written down.
    if (first.length === 0 && others.length > WORKER_LIMITS.optionalFields) return "object";
    const tail = (fields: readonly string[]): string => fields.map((one) => `("," ws ${one})?`).join(" ");
    // Without a required field, the first of the optional ones that is there has no comma.
    const anyOfOthers = others.map((one, at) => joinExpressions(one, tail(others.slice(at + 1)))).join(" | ");
    const body =
      first.length > 0
        ? joinExpressions(first.join(' "," ws '), tail(others))
        : others.length > 0
          ? `(${anyOfOthers})?`
          : "";
    return this.#rule(joinExpressions('"{" ws', body, 'ws "}"'));
  }

  /** What a schema allows, as an expression. */
  value(schema: Json | undefined, depth: number): string {
    if (!isObject(schema) || depth > WORKER_LIMITS.schemaDepth) return "any";
    if (schema["const"] !== undefined) return literal(schema["const"]);
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(schema["enum"])) return among(schema["enum"].map(literal));
    if (Array.isArray(alternatives)) return among(alternatives.map((one: Json) => this.value(one, depth + 1)));
    const { type } = schema;
    if (Array.isArray(type)) return among(type.map((one: Json) => this.value({ ...schema, type: one }, depth + 1)));
    return this.#typeRule(schema, depth);
  }

  #typeRule(schema: JsonObject, depth: number): string {
    const { type, properties, required, items, minItems, minimum, minLength } = schema;
    switch (type) {
      case "object":
        if (!isObject(properties) || Object.keys(properties).length === 0) return "object";
        return this.object(properties, Array.isArray(required) ? required.map(String) : [], depth);
      case "array": {
        const item = this.value(items, depth + 1);
        const some = `${item} ("," ws ${item}){0,${WORKER_LIMITS.arrayItems - 1}}`;
        return this.#rule(`"[" ws ${typeof minItems === "number" && minItems > 0 ? some : `(${some})?`} ws "]"`);
      }
      case "string":
        return typeof minLength === "number" && minLength > 0 ? "text" : "string";
      case "integer":
        return typeof minimum === "number" && minimum >= 0 ? "digits" : "integer";
      case "number":
      case "boolean":
        return type;
      case "null":
        return literal(null);
      default:
        return "any";
    }
  }

  #rule(body: string): string {
    const name = `r${this.rules.length}`;
    this.rules.push(`${name} ::= ${body}`);
    return name;
  }
}

/** Expressions in a row; blanks within a literal are part of it, so that none may be left out afterwards. */
function joinExpressions(...expressions: readonly string[]): string {
  return expressions.filter((one) => one !== "").join(" ");
}

function among(expressions: readonly string[]): string {
  return expressions.length === 0 ? "any" : `(${[...new Set(expressions)].join(" | ")})`;
}

/** A JSON value as the text that the grammar wants there. */
function literal(value: Json | undefined): string {
  return JSON.stringify(JSON.stringify(value ?? null));
}
