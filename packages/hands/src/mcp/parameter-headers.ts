import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { headerText } from "@vidro/core/wire/mcp";

const MARK = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const TYPES: readonly Json[] = ["string", "integer", "boolean"];

/** Parameters of a tool that its requests mirror in headers: the name of the header, and the way to the value. */
type MirroredParameters = readonly { readonly header: string; readonly path: readonly string[] }[];

/** Headers of a call, for the parameters that the schema marks; none for those that the input leaves out. */
export function parameterHeaders(schema: JsonObject, input: JsonObject): { readonly [name: string]: string } {
  const headers = (mirroredIn(schema) ?? []).flatMap(({ header, path }) => {
    const value = path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), input);
    return value === undefined || value === null || typeof value === "object"
      ? []
      : [[`mcp-param-${header.toLowerCase()}`, headerText(String(value))] as const];
  });
  return Object.fromEntries(headers);
}

/** Whether the marks of a schema are as the protocol wants them; a tool with others is left out. */
export function hasSoundMarks(schema: JsonObject): boolean {
  return mirroredIn(schema) !== undefined;
}

/** The marked parameters; undefined when a mark is wrong, doubled, or where the protocol allows none. */
function mirroredIn(schema: JsonObject): MirroredParameters | undefined {
  const found = reachable(schema, []);
  const names = found.map(({ header }) => header.toLowerCase());
  const isSound = found.every(({ header, type }) => TOKEN.test(header) && TYPES.includes(type));
  return isSound && new Set(names).size === names.length && names.length === countMarks(schema) ? found : undefined;
}

function reachable(
  { properties }: JsonObject,
  path: readonly string[],
): readonly { readonly header: string; readonly path: readonly string[]; readonly type: Json }[] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, property]) => {
    if (!isObject(property)) return [];
    const { [MARK]: header, type = null } = property;
    const own = typeof header === "string" ? [{ header, path: [...path, key], type }] : [];
    return [...own, ...reachable(property, [...path, key])];
  });
}

/** Marks anywhere in a schema, also where they are not allowed. */
function countMarks(value: Json | undefined): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each: Json) => sum + countMarks(each), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((sum, [key, each]) => sum + (key === MARK ? 1 : countMarks(each)), 0);
}
