import { NEGOTIATION_LIMITS } from "./limits.ts";

/** Which box the client asks for: progress events (glass) or only the answer (black). */
export type Sight = "glass" | "black";

/** The media type of a black box. */
export const JSON_TYPE = "application/json";
/** The media type of a glass box. */
export const NDJSON_TYPE = "application/x-ndjson";

/** One media range of an Accept header. */
interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  /** The parameters before the weight, in lower case. */
  readonly parameters: readonly string[];
  readonly weight: number;
  readonly place: number;
}

/** How strongly an Accept header prefers a media type. */
interface Preference {
  readonly weight: number;
  readonly precision: number;
  readonly place: number;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const WEIGHT = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;
/** The only media type parameter of our answers. */
const OUR_PARAMETER = "charset=utf-8";

/**
 * Which box an Accept header asks for, as RFC 9110 §12 reads it; undefined when neither is acceptable (406).
 * The higher weight wins, then the more exact name, then what is named first, then the black box. A header that is
 * absent, empty or has no well-formed range gets the black box.
 */
export function negotiate(accept: string | undefined): Sight | undefined {
  const ranges = split(accept ?? "", ",")
    .slice(0, NEGOTIATION_LIMITS.ranges)
    .flatMap((text, place) => rangeOf(text, place) ?? []);
  if (ranges.length === 0) return "black";
  const glass = preferenceFor(NDJSON_TYPE, ranges);
  const black = preferenceFor(JSON_TYPE, ranges);
  if (glass === undefined) return black && "black";
  if (black === undefined) return "glass";
  const preference = glass.weight - black.weight || glass.precision - black.precision || black.place - glass.place;
  return preference > 0 ? "glass" : "black";
}

/** The existing value of a Vary header with Accept in it. */
export function varyWithAccept(vary: string): string {
  const fields = vary.split(",").map((field) => field.trim().toLowerCase());
  if (fields.includes("accept") || fields.includes("*")) return vary;
  return vary.trim() === "" ? "Accept" : `${vary}, Accept`;
}

/** The preference by the most specific matching range; undefined when none matches or its weight is 0. */
function preferenceFor(mediaType: string, ranges: readonly MediaRange[]): Preference | undefined {
  const [type, subtype] = mediaType.split("/");
  let best: Preference | undefined;
  for (const range of ranges) {
    const fits = [type, "*"].includes(range.type) && [subtype, "*"].includes(range.subtype);
    if (!fits || range.parameters.some((parameter) => parameter !== OUR_PARAMETER)) continue;
    const precision = precisionOf(range);
    const { weight, place } = range;
    const isBetter = best === undefined || (precision - best.precision || weight - best.weight) > 0;
    if (isBetter) best = { weight, precision, place };
  }
  return best !== undefined && best.weight > 0 ? best : undefined;
}

function precisionOf({ type, subtype, parameters }: MediaRange): number {
  return Number(type !== "*") + Number(subtype !== "*") + Number(parameters.length > 0);
}

function rangeOf(text: string, place: number): MediaRange | undefined {
  const [name = "", ...rest] = split(text, ";").map((part) => part.trim());
  const [type = "", subtype = "", ...more] = name.toLowerCase().split("/");
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || more.length > 0 || (type === "*" && subtype !== "*"))
    return undefined;
  const parameters: string[] = [];
  for (const part of rest.filter((each) => each !== "")) {
    const equals = part.indexOf("=");
    const key = part.slice(0, Math.max(0, equals)).toLowerCase();
    const value = unquote(part.slice(equals + 1));
    if (!TOKEN.test(key)) return undefined;
    // Parameters after the weight are extensions that RFC 9110 removed.
    if (key === "q")
      return WEIGHT.test(value) ? { type, subtype, parameters, weight: Number(value), place } : undefined;
    parameters.push(`${key}=${value.toLowerCase()}`);
  }
  return { type, subtype, parameters, weight: 1, place };
}

function unquote(value: string): string {
  return /^".*"$/.test(value) ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value;
}

/** Splits at separators outside quoted strings. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted && letter === "\\") at++;
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && letter === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
