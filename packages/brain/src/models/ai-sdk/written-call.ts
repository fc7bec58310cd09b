import { isObject } from "@vidro/core";

/* Calls of tools that a model writes into its text between tags, in the forms of the common chat templates. */

/** A call as it was written; `input` is the text of a JSON object, or what the model wrote in its place. */
export interface WrittenCall {
  readonly tool: string;
  readonly input: string;
}

/** The calls in the text between two tags; undefined when it cannot be read as calls of these tools. */
export function readCalls(body: string, tools: ReadonlySet<string>): readonly WrittenCall[] | undefined {
  const text = withoutFence(body);
  const calls = jsonCalls(text) ?? functionCall(text) ?? keyedCall(text);
  return calls !== undefined && calls.length > 0 && calls.every(({ tool }) => tools.has(tool)) ? calls : undefined;
}

/** A call of a known tool whose arguments are no JSON, so that the model can be told what is wrong with them. */
export function readBrokenCall(body: string, tools: ReadonlySet<string>): WrittenCall | undefined {
  const [, tool = ""] = /"name"\s*:\s*"([^"\\]{1,200})"/.exec(body) ?? [];
  if (!tools.has(tool)) return undefined;
  const [, input] = /"(?:arguments|parameters)"\s*:\s*([^]*)$/.exec(withoutFence(body)) ?? [];
  return { tool, input: input?.trim() ?? body.trim() };
}

function withoutFence(body: string): string {
  const [, inner] = /^\s*```\w*\s*\n([^]*?)\n?\s*```\s*$/.exec(body) ?? [];
  return (inner ?? body).trim();
}

/** `{"name": …, "arguments": {…}}`, one or a list of them. */
function jsonCalls(text: string): readonly WrittenCall[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const calls = (Array.isArray(value) ? (value as readonly unknown[]) : [value]).map(jsonCall);
  return calls.every((call) => call !== undefined) ? calls : undefined;
}

function jsonCall(value: unknown): WrittenCall | undefined {
  if (!isObject(value)) return undefined;
  const called = isObject(value["function"]) ? value["function"] : value;
  const tool = called["name"];
  const input = called["arguments"] ?? called["parameters"] ?? {};
  if (typeof tool !== "string") return undefined;
  return { tool, input: typeof input === "string" ? input : JSON.stringify(input) };
}

/** `<function=name><parameter=key>value</parameter></function>`, one or several behind each other. */
function functionCall(text: string): readonly WrittenCall[] | undefined {
  if (!text.startsWith("<function=")) return undefined;
  // Parameters are read first, so that a value that shows a call is no call.
  const parts = text.matchAll(/<parameter=([^>\s]+)>([^]*?)<\/parameter>|<function=([^>\s]+)>/g);
  const calls: { readonly tool: string; readonly fields: (readonly [string, string])[] }[] = [];
  for (const [, key, value = "", tool] of parts) {
    if (tool !== undefined) calls.push({ tool, fields: [] });
    else if (key !== undefined) calls.at(-1)?.fields.push([key, value]);
  }
  return calls.map(({ tool, fields }) => ({ tool, input: objectOf(fields) }));
}

/** The tool's name, then `<arg_key>key</arg_key><arg_value>value</arg_value>` for each argument. */
function keyedCall(text: string): readonly WrittenCall[] | undefined {
  const [, tool, body] = /^([\w.-]{1,200})\s*((?:<arg_key>[^]*)?)$/.exec(text) ?? [];
  if (tool === undefined || body === undefined) return undefined;
  const fields = [...body.matchAll(/<arg_key>([^]*?)<\/arg_key>\s*<arg_value>([^]*?)<\/arg_value>/g)];
  return [{ tool, input: objectOf(fields.map(([, key = "", value = ""]) => [key, value])) }];
}

/** The values are texts: the tool's schema says what else they are. */
function objectOf(fields: readonly (readonly [key: string, value: string])[]): string {
  const entries = fields.map(([key, value]) => [key.trim(), value.replace(/^\n|\n$/g, "")] as const);
  return JSON.stringify(Object.fromEntries(entries));
}
