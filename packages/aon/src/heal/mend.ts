import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { MEND_LIMITS } from "../limits.ts";
import { coerce, isOfType } from "./coerce.ts";
import { foldName, foldValue, meaningOf } from "./names.ts";

/** The part of JSON Schema that mending uses; other keywords are ignored. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly Json[];
  readonly default?: Json;
  readonly [keyword: string]: unknown;
}

/** Options of mending. */
export interface MendOptions {
  /** Further groups of names with the same meaning. */
  readonly synonyms?: readonly (readonly string[])[];
}

/** A mended input; the changes name fields and never values. */
export interface MendedInput {
  readonly value: Json;
  readonly changes: readonly string[];
}

/** Position in the input, and the changes so far. */
interface MendState {
  readonly path: string;
  readonly depth: number;
  readonly changes: string[];
  readonly synonyms: readonly (readonly string[])[];
}

/** Makes an input fit its schema where that is unambiguous; an existing field is never replaced. */
export function mendInput(input: Json, schema: Schema, options: MendOptions = {}): MendedInput {
  const synonyms = (options.synonyms ?? []).map((row) => row.map((word) => foldName(word)));
  const changes: string[] = [];
  return { value: mend(input, schema, { path: "", depth: 0, changes, synonyms }), changes };
}

function mend(value: Json, schema: Schema, place: MendState): Json {
  if (place.depth > MEND_LIMITS.depth) return value;
  const fitting = matchChoice(coerceType(value, schema, place), schema, place);
  const { items } = schema;
  if (Array.isArray(fitting) && items !== undefined) {
    const inside = (item: Json, at: number): Json => mend(item, items, below(place, `${place.path}[${at}]`));
    return fitting.map((item: Json, at) => (at < MEND_LIMITS.items ? inside(item, at) : item));
  }
  const isMendable =
    isObject(fitting) && schema.properties !== undefined && Object.keys(fitting).length <= MEND_LIMITS.fields;
  return isMendable ? mendFields(fitting, schema, place) : fitting;
}

/** The value converted to one of its schema's types, if that loses nothing. */
function coerceType(value: Json, { type }: Schema, { path, changes }: MendState): Json {
  const types = typeof type === "string" ? [type] : (type ?? []);
  if (types.some((each) => isOfType(value, each))) return value;
  for (const each of types) {
    const changed = coerce(value, each);
    if (changed === undefined) continue;
    changes.push(`${path || "input"} is now of type ${each}`);
    return changed;
  }
  return value;
}

/** The enum value that differs only in case, accents or separators, if there is exactly one. */
function matchChoice(value: Json, { enum: choices = [] }: Schema, { path, changes }: MendState): Json {
  if (typeof value !== "string" || choices.includes(value)) return value;
  const alike = choices.filter((choice) => typeof choice === "string" && foldValue(choice) === foldValue(value));
  if (alike.length !== 1 || alike[0] === undefined) return value;
  changes.push(`${path || "input"} is written as its schema writes it`);
  return alike[0];
}

function mendFields(object: JsonObject, { properties = {} }: Schema, place: MendState): Json {
  const fields = new Map<string, Json>();
  const missing = Object.keys(properties).filter((name) => !Object.hasOwn(object, name));
  const unknown = Object.keys(object).filter((name) => !Object.hasOwn(properties, name));
  const renamed = findRenames(unknown, missing, place.synonyms);
  for (const [name, value = null] of Object.entries(object)) {
    const known = renamed.get(name) ?? name;
    if (known !== name) place.changes.push(`${fieldPath(place, name)} is taken for ${known}`);
    const wanted = Object.hasOwn(properties, known) ? properties[known] : undefined;
    fields.set(known, wanted === undefined ? value : mend(value, wanted, below(place, fieldPath(place, known))));
  }
  for (const name of missing) {
    const preset = properties[name]?.default;
    if (preset === undefined || fields.has(name)) continue;
    fields.set(name, preset);
    place.changes.push(`${fieldPath(place, name)} has its default`);
  }
  return Object.fromEntries(fields);
}

/** Maps unknown names to missing ones; when two unknown names match the same one, neither is renamed. */
function findRenames(
  unknown: readonly string[],
  missing: readonly string[],
  synonyms: MendState["synonyms"],
): ReadonlyMap<string, string> {
  const claims = unknown.flatMap((name) => {
    const meaning = meaningOf(name, missing, synonyms);
    return meaning === undefined ? [] : [[name, meaning.name] as const];
  });
  return new Map(claims.filter(([, meant]) => claims.filter(([, other]) => other === meant).length === 1));
}

function below(place: MendState, path: string): MendState {
  return { ...place, path, depth: place.depth + 1 };
}

function fieldPath({ path }: MendState, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
