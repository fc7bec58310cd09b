import { REDACT_LIMITS } from "../limits.ts";
import { keyEndFinder } from "./key-end.ts";
import { needleFinder } from "./needles.ts";
import { percentFinder } from "./percent.ts";
import { REDACTED, scan, scanStream } from "./scan.ts";
import type { Finder, TextStream } from "./scan.ts";
import { shapeFinder } from "./shapes.ts";

export { REDACTED } from "./scan.ts";
export type { TextStream } from "./scan.ts";

/** Removes secrets: known values, values under names that suggest a secret, and texts of known formats. */
export interface Redactor {
  /** The text with a placeholder for each secret; the same string when it has none. */
  text(text: string): string;
  /** The value with its secrets redacted; the same object when it has none. */
  value<T>(value: T): T;
  /** For text in pieces: the output joins to `text` of the whole, and no piece contains part of a secret. */
  stream(): TextStream;
}

/** Names of fields whose strings are secrets; counts such as `inputTokens` are none. */
const TELLING =
  /passw(?:or)?d$|passphrase$|(?:secret|segredo|secreto)$|token$|(?:api|access|private|secret|signing|account|encryption|master|storage|subscription|shared)[_-]?key$|secret[_-]?key[_-]?base$|authorization$|cookies?$|credentials?$|senha$|contrase[nñ]a$|palavra[_-]?passe$|mot[_-]?de[_-]?passe$|(?:pass|kenn)wort$|frase[_-]?secreta$|t?otp[_-]?seed$|(?:^|[_-])(?:clave|pwd|pass)$|token[_-]?(?:de[_-]?)?acc?esso$|token[_-]?(?:de[_-]?)?acceso$|(?:chave|clave|llave)[_-]?(?:de[_-]?)?(?:api|acc?esso|acceso|secreta|privada)$/i;

/** A redacted field name, and whether it suggests a secret. */
interface Name {
  readonly name: string;
  readonly isTelling: boolean;
}

/** A redactor that knows these secret values; very short ones are ignored because they occur in ordinary words. */
export function redactor(secrets: readonly string[]): Redactor {
  const known = needleFinder(secrets);
  /** Field names are few and repeat with every event, so each is checked once. */
  const names = new Map<string, Name>();

  const text = textRedactor(known);

  function value<T>(from: T): T;
  function value(from: unknown): unknown {
    return redactValue(from, false, 0);
  }

  function redactValue(from: unknown, named: boolean, depth: number): unknown {
    if (typeof from === "string") return named && from.length >= REDACT_LIMITS.namedChars ? REDACTED : text(from);
    if (typeof from !== "object" || from === null) return from;
    if (depth > REDACT_LIMITS.depth) return REDACTED;
    return Array.isArray(from) ? redactedItems(from, named, depth) : redactedFields(from, depth);
  }

  function redactedItems(items: readonly unknown[], named: boolean, depth: number): readonly unknown[] {
    let changed: unknown[] | undefined;
    for (let at = 0; at < items.length; at++) {
      const clean = redactValue(items[at], named, depth + 1);
      if (clean !== items[at]) (changed ??= [...items])[at] = clean;
    }
    return changed ?? items;
  }

  function redactedFields(object: object, depth: number): object {
    let changed: [string, unknown][] | undefined;
    const keys = Object.keys(object);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at]!;
      const field: unknown = object[key as keyof object];
      const { name, isTelling } = nameOf(key);
      const clean = redactValue(field, isTelling && (typeof field === "string" || Array.isArray(field)), depth + 1);
      if (clean !== field || name !== key) (changed ??= Object.entries(object))[at] = [name, clean];
    }
    return changed === undefined ? object : Object.fromEntries(changed);
  }

  function nameOf(key: string): Name {
    const seen = names.get(key);
    if (seen !== undefined) return seen;
    const name = { name: text(key), isTelling: TELLING.test(key) };
    if (key.length <= REDACT_LIMITS.nameChars && names.size < REDACT_LIMITS.names) names.set(key, name);
    return name;
  }

  return {
    text,
    value,
    stream: () => redactedStream(known),
  };
}

function textRedactor(known: Finder): (from: string) => string {
  /** Texts without secrets: kinds of events, ids, rules and reasons come again and again. */
  const clean = new Set<string>();
  return (from) => {
    if (from.length < REDACT_LIMITS.secretChars || clean.has(from)) return from;
    // Known secrets are replaced first: a shape might end in the middle of one.
    const found = scan(percentFinder, scan(keyEndFinder, scan(shapeFinder, scan(known, from))));
    if (found === from && from.length <= REDACT_LIMITS.cleanTextChars) {
      if (clean.size >= REDACT_LIMITS.cleanTexts) clean.clear();
      clean.add(from);
    }
    return found;
  };
}

function redactedStream(known: Finder): TextStream {
  const stages = [known, shapeFinder, keyEndFinder, percentFinder].map(scanStream);
  return {
    push: (chunk) => stages.reduce((text, stage) => stage.push(text), chunk),
    end: () => stages.reduce((text, stage) => stage.push(text) + stage.end(), ""),
  };
}
