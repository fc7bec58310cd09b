import { Fault } from "../fault.ts";
import { isObject } from "../json.ts";
import type { Json } from "../json.ts";
import { CODEC_LIMITS } from "../limits.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Whether `__proto__` could be a key here: spelled out, or with one of its letters behind an escape. */
const MAYBE_PROTO = /__proto__|\\u00[567]/;

/** Parses untrusted JSON; BAD_REQUEST when it is not JSON, too deep, or has a `__proto__` key. */
export function parseJson(text: string): Json {
  // Each level has two brackets: a shorter text is not as deep, or no JSON.
  if (text.length > 2 * CODEC_LIMITS.jsonDepth) refuseDepth(text);
  const value = parse(text);
  if (MAYBE_PROTO.test(text)) refuseProto(value);
  return value;
}

function parse(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (thrown) {
    throw new Fault("BAD_REQUEST", "This is not JSON. Send one complete JSON value.", { cause: thrown });
  }
}

/** Counts brackets outside strings; text that is no JSON may be miscounted only behind the place where parsing stops. */
function refuseDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      if (++depth > CODEC_LIMITS.jsonDepth) {
        throw new Fault(
          "BAD_REQUEST",
          `The JSON is nested deeper than ${CODEC_LIMITS.jsonDepth} levels. Send it flatter.`,
        );
      }
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
      depth--;
    }
  }
}

/** The index of the quote that closes a string, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - slashes > from && text.charCodeAt(at - slashes - 1) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

function refuseProto(value: Json | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) refuseProto(item);
  } else if (isObject(value)) {
    if (Object.hasOwn(value, "__proto__")) {
      throw new Fault("BAD_REQUEST", "The JSON has a key named __proto__. Leave that key out.");
    }
    for (const key of Object.keys(value)) refuseProto(value[key]);
  }
}
