import { Fault } from "../fault.ts";
import { isObject, type JsonObject } from "../json.ts";
import { POLICY_LIMITS } from "../limits.ts";
import { checkPolicy } from "./check.ts";
import { isPattern } from "./path.ts";
import type {
  Arguments,
  Examples,
  Grammar,
  ArgumentPatterns,
  Options,
  OptionValue,
  PathValue,
  PolicyFolders,
  Policy,
  PolicySource,
  Rule,
  ShellExample,
  Value,
} from "./rule.ts";

type ReadValue<T> = (value: unknown, where: string) => T;

/**
 * The policy in a JSON value, or a BAD_POLICY fault that names the rule and what is wrong with it.
 * Every example of every rule has been tried; an unknown key is refused, so that a misspelt one is not ignored. A
 * policy with `"extends": "shipped"` adds to the shipped one, where that is given.
 */
export function parsePolicy(json: unknown, places: PolicyFolders, shipped?: PolicySource): Policy {
  if (shipped !== undefined && isObject(json) && json["extends"] !== undefined)
    return parseAdditions(json, places, shipped);
  const source = object(json, "the policy", KEYS);
  const policy: Policy = {
    trusted: list(pattern)(source["trusted"], "trusted"),
    secrets: list(pattern)(source["secrets"], "secrets"),
    env: variables(source["env"], "env"),
    rules: list(rule)(source["rules"], "rules"),
    ...optionalField({ source, where: "the policy" }, "host", oneOf("ask", "deny")),
    ...optionalField({ source, where: "the policy" }, "memory", memory),
    ...optionalField({ source, where: "the policy" }, "privateHosts", list(hostPattern)),
    places,
  };
  return checkFields(policy);
}

const KEYS = ["trusted", "secrets", "env", "rules", "host", "memory", "privateHosts"];

/** A policy that adds to the shipped one: what it leaves out is the shipped policy's. */
function parseAdditions(json: JsonObject, places: PolicyFolders, shipped: PolicySource): Policy {
  const where = "the policy";
  const source = object(json, where, ["extends", ...KEYS]);
  oneOf("shipped")(source["extends"], "extends");
  const added = source["rules"] === undefined ? [] : list(rule)(source["rules"], "rules");
  const { trusted, secrets, env } = {
    ...optionalField({ source, where }, "trusted", list(pattern)),
    ...optionalField({ source, where }, "secrets", list(pattern)),
    ...optionalField({ source, where }, "env", variables),
  };
  return checkFields({
    ...shipped,
    trusted: [...shipped.trusted, ...(trusted ?? [])],
    secrets: [...shipped.secrets, ...(secrets ?? [])],
    env: { ...shipped.env, ...env },
    rules: [...added, ...shipped.rules],
    added: new Set(added.map(({ id }) => id)),
    ...optionalField({ source, where }, "host", oneOf("ask", "deny")),
    ...optionalField({ source, where }, "memory", memory),
    ...optionalField({ source, where }, "privateHosts", list(hostPattern)),
    places,
  });
}

function checkFields(policy: Policy): Policy {
  for (const [name, path] of Object.entries(policy.places))
    if (!path.startsWith("/")) fail(name, `${path} is not absolute`);
  checkPolicy(policy);
  return policy;
}

function fail(where: string, what: string): never {
  throw new Fault("BAD_POLICY", `${where}: ${what}`);
}

function object(value: unknown, where: string, keys: readonly string[]): JsonObject {
  if (!isObject(value)) return fail(where, "must be an object");
  const strange = Object.keys(value).find((key) => !keys.includes(key));
  return strange === undefined ? value : fail(where, `"${strange}" is not known; there may be ${keys.join(", ")}`);
}

const text: ReadValue<string> = (value, where) => {
  if (typeof value !== "string" || value === "") return fail(where, "must be a text that is not empty");
  return value.length <= POLICY_LIMITS.textChars
    ? value
    : fail(where, `is longer than ${POLICY_LIMITS.textChars} characters`);
};

const flag: ReadValue<boolean> = (value, where) =>
  typeof value === "boolean" ? value : fail(where, "must be true or false");

const pattern: ReadValue<string> = (value, where) => {
  const path = text(value, where);
  return isPattern(path) ? path : fail(where, `${path} is no path pattern such as /etc/** or {workspace}/*.md`);
};

/** A host name in lower case, `*.` and one, an address of the internet protocol as URLs have it, or `*`. */
const HOST = /^(?:\*|(?:\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/;

const hostPattern: ReadValue<string> = (value, where) => {
  const host = text(value, where);
  return HOST.test(host) ? host : fail(where, `${host} is no host such as docs.example.org or *.example.org`);
};

/** A path pattern behind which name it has to stand, if any. */
const mark: ReadValue<string> = (value, where) => {
  const whole = text(value, where);
  pattern(whole.replace(/^[^/={]+=/, ""), where);
  return whole;
};

/** An argument may be the empty text. */
const word: ReadValue<string> = (value, where) => (value === "" ? "" : text(value, where));

const memory: ReadValue<number> = (value, where) =>
  Number.isInteger(value) && Number(value) >= POLICY_LIMITS.memoryMib
    ? Number(value)
    : fail(where, `must be a whole number of MiB, at least ${POLICY_LIMITS.memoryMib}`);

function oneOf<const T extends string>(...values: readonly T[]): ReadValue<T> {
  return (value, where) => values.find((known) => known === value) ?? fail(where, `must be ${values.join(" or ")}`);
}

function list<T>(item: ReadValue<T>): ReadValue<readonly T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) return fail(where, "must be a list");
    if (value.length > POLICY_LIMITS.items) return fail(where, `has more than ${POLICY_LIMITS.items} items`);
    return value.map((entry: unknown, index) => item(entry, `${where}[${index}]`));
  };
}

function record<T>(item: ReadValue<T>): ReadValue<{ readonly [name: string]: T }> {
  return (value, where) => {
    if (!isObject(value)) return fail(where, "must be an object");
    const entries = Object.entries(value);
    if (entries.length > POLICY_LIMITS.items) return fail(where, `has more than ${POLICY_LIMITS.items} items`);
    return Object.fromEntries(entries.map(([name, entry]) => [name, item(entry, `${where} ${name}`)]));
  };
}

const variables = record<"any" | readonly string[]>((value, where) =>
  value === "any" ? "any" : list(text)(value, where),
);

/** An object, and its name in errors. */
interface NamedSource {
  readonly source: JsonObject;
  readonly where: string;
}

/** An object with the field alone, or an empty one where the source lacks it. */
function optionalField<K extends string, T>(
  { source, where }: NamedSource,
  key: K,
  read: ReadValue<T>,
): { [key in K]?: T } {
  const found: { [key in K]?: T } = {};
  if (source[key] !== undefined) found[key] = read(source[key], `${where}: ${key}`);
  return found;
}

const pathValue: ReadValue<PathValue> = (value, where) => {
  const source = object(value, where, ["paths", "deep"]);
  return {
    paths: list(pattern)(source["paths"], `${where}: paths`),
    ...optionalField({ source, where }, "deep", flag),
  };
};

const value: ReadValue<Value> = (json, where) => {
  if (json === "text" || json === "number") return json;
  if (isObject(json) && "paths" in json) return pathValue(json, where);
  const source = object(json, where, ["like", "unlike"]);
  return {
    like: list(text)(source["like"], `${where}: like`),
    ...optionalField({ source, where }, "unlike", list(text)),
  };
};

const optionValue: ReadValue<OptionValue> = (json, where) => {
  if (json === "flag") return "flag";
  if (isObject(json) && "attached" in json) {
    return { attached: value(object(json, where, ["attached"])["attached"], `${where}: attached`) };
  }
  return value(json, where);
};

const options: ReadValue<Options> = (json, where) => {
  const read = record(optionValue)(json, where);
  const strange = Object.keys(read).find((name) => !/^-[^-=\s]+$|^--[^=\s]+$/.test(name));
  return strange === undefined ? read : fail(where, `${strange} is no option`);
};

const grammar: ReadValue<Grammar> = (json, where) => {
  const source = object(json, where, ["before", "commands", "options", "operands", "many", "wholeWords"]);
  return {
    ...optionalField({ source, where }, "before", options),
    ...optionalField({ source, where }, "commands", list(text)),
    ...optionalField({ source, where }, "options", options),
    ...optionalField({ source, where }, "operands", list(value)),
    ...optionalField({ source, where }, "many", flag),
    ...optionalField({ source, where }, "wholeWords", flag),
  };
};

const marks: ReadValue<ArgumentPatterns> = (json, where) => {
  const source = object(json, where, ["commands", "options", "paths"]);
  return {
    ...optionalField({ source, where }, "commands", list(text)),
    ...optionalField({ source, where }, "options", list(text)),
    ...optionalField({ source, where }, "paths", list(mark)),
  };
};

const args: ReadValue<Arguments> = (json, where) => {
  if (json === "any") return "any";
  const source = object(json, where, ["exact", "fit", "contain"]);
  if (Object.keys(source).length !== 1) return fail(where, 'must be "any" or one of exact, fit, contain');
  if ("exact" in source) return { exact: list(list(word))(source["exact"], `${where}: exact`) };
  if ("fit" in source) return { fit: grammar(source["fit"], `${where}: fit`) };
  return { contain: marks(source["contain"], `${where}: contain`) };
};

function examples<T>(item: ReadValue<T>): ReadValue<Examples<T>> {
  return (json, where) => {
    const source = object(json, where, ["match", "not_match"]);
    const match = list(item)(source["match"], `${where}: match`);
    if (match.length === 0) return fail(where, "match has no example");
    return { match, not_match: list(item)(source["not_match"], `${where}: not_match`) };
  };
}

const access = oneOf("read", "workspace", "host", "all");

const shellExample: ReadValue<ShellExample> = (json, where) => {
  const source = object(json, where, ["command", "access", "sandboxed"]);
  return {
    command: text(source["command"], `${where}: command`),
    access: access(source["access"], `${where}: access`),
    sandboxed: flag(source["sandboxed"], `${where}: sandboxed`),
  };
};

const HEAD = ["id", "kind", "class", "decision", "reason", "examples"] as const;
const BODY = {
  // `confined` is in older files; every allowed program is confined now.
  process: ["program", "arguments", "cwd", "confined", "sees"],
  shell: ["commands", "access", "sandboxed", "cwd"],
  file: ["operations", "paths", "inWorkspace"],
  fetch: ["hosts"],
  facts: ["facts"],
  order: ["tools", "definitions"],
} as const;

const ruleKind = oneOf("process", "shell", "file", "fetch", "facts", "order");
const decision = oneOf("allow", "ask", "deny");
const actionClass = oneOf("read", "write", "code-exec", "network", "privileged", "destructive");

const rule: ReadValue<Rule> = (json, position) => {
  if (!isObject(json)) return fail(position, "must be an object");
  const id = text(json["id"], `${position}: id`);
  const where = `rule ${id}`;
  const kind = ruleKind(json["kind"], `${where}: kind`);
  const source = object(json, where, [...HEAD, ...BODY[kind]]);
  const need = <T>(key: string, read: ReadValue<T>): T => read(source[key], `${where}: ${key}`);
  const head = {
    id,
    class: need("class", actionClass),
    decision: need("decision", decision),
    ...optionalField({ source, where }, "reason", text),
  };
  if (kind === "process") {
    return {
      ...head,
      kind,
      program: need("program", list(text)),
      arguments: need("arguments", args),
      ...optionalField({ source, where }, "cwd", pathValue),
      ...optionalField({ source, where }, "sees", oneOf("host")),
      examples: need("examples", examples(list(word))),
    };
  }
  if (kind === "shell") {
    return {
      ...head,
      kind,
      ...optionalField({ source, where }, "commands", list(text)),
      ...optionalField({ source, where }, "access", list(access)),
      ...optionalField({ source, where }, "sandboxed", flag),
      ...optionalField({ source, where }, "cwd", pathValue),
      examples: need("examples", examples(shellExample)),
    };
  }
  if (kind === "file") {
    return {
      ...head,
      kind,
      operations: need("operations", list(oneOf("read", "write"))),
      ...optionalField({ source, where }, "paths", list(pattern)),
      ...optionalField({ source, where }, "inWorkspace", flag),
      examples: need("examples", examples(text)),
    };
  }
  if (kind === "fetch")
    return { ...head, kind, hosts: need("hosts", list(hostPattern)), examples: need("examples", examples(text)) };
  if (kind === "order")
    return {
      ...head,
      kind,
      tools: need("tools", list(text)),
      ...optionalField({ source, where }, "definitions", list(text)),
      examples: need("examples", examples(text)),
    };
  return { ...head, kind, facts: need("facts", list(text)), examples: need("examples", examples(text)) };
};
