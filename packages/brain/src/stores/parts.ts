import { hash } from "node:crypto";
import { STORE_LIMITS } from "@vidro/core";
import type { Event } from "@vidro/core";

/*
 * A body is stored without its large texts: each is a part, kept once under its hash, and the body has a reference in
 * its place. A body that was written before there were parts has no reference and is read as it is. The hash chain
 * covers the whole body, so that a part which was altered breaks the chain of each run that uses it.
 */

/** The body of an entry, and how it is stored. */
export interface PackedBody {
  /** The whole text, which the hash chain covers. */
  readonly body: string;
  /** The text with references in the place of its parts. */
  readonly stored: string;
  /** Texts by their SHA-256 in hexadecimal. */
  readonly parts: ReadonlyMap<string, string>;
}

/** Stands around the hash of a part; JSON has it only escaped, so that a body cannot hold it. */
const MARK = "\u0001";
const NO_PARTS: ReadonlyMap<string, string> = new Map();

/** Encodes an event and takes its toolbelt and its long strings out of it. */
export function packEvent(event: Event): PackedBody {
  const body = JSON.stringify(event);
  if (body.length < STORE_LIMITS.partChars) return { body, stored: body, parts: NO_PARTS };
  const parts = new Map<string, string>();
  const refer = (text: string): string => {
    const key = hash("sha256", text, "hex");
    parts.set(key, text);
    return `${MARK}${key}${MARK}`;
  };
  return { body, stored: packText(body, toolbeltOf(event), refer), parts };
}

/** The parts of several bodies, each once, in an order in which statements of several brains do not wait in a ring. */
export function joinParts(bodies: readonly Pick<PackedBody, "parts">[]): readonly (readonly [string, string])[] {
  const parts = new Map(bodies.flatMap((body) => [...body.parts]));
  return [...parts].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** The hashes that a stored text refers to. */
export function partsIn(stored: string): readonly string[] {
  return stored.includes(MARK) ? stored.split(MARK).filter((_, index) => index % 2 === 1) : [];
}

/** The whole body of a stored text; a part that is missing leaves a body that its hash does not fit. */
export function unpackBody(stored: string, part: (key: string) => string | undefined): string {
  if (!stored.includes(MARK)) return stored;
  return stored
    .split(MARK)
    .map((piece, index) => (index % 2 === 0 ? piece : (part(piece) ?? "")))
    .join("");
}

/** The toolbelt as it stands in the body; it is the same in most runs of a hand. */
function toolbeltOf(event: Event): string | undefined {
  if (event.type !== "run.started") return undefined;
  const text = JSON.stringify(event.tools);
  return text.length < STORE_LIMITS.partChars ? undefined : text;
}

function packText(body: string, toolbelt: string | undefined, refer: (text: string) => string): string {
  const place = toolbelt === undefined ? -1 : body.indexOf(toolbelt);
  if (toolbelt === undefined || place === -1) return packStrings(body, refer);
  const rest = body.slice(place + toolbelt.length);
  return packStrings(body.slice(0, place), refer) + refer(toolbelt) + packStrings(rest, refer);
}

/** Replaces the long string literals of a piece of JSON that begins and ends outside of one. */
function packStrings(text: string, refer: (text: string) => string): string {
  let packed = "";
  let kept = 0;
  for (let begin = text.indexOf('"'); begin !== -1;) {
    const end = literalEnd(text, begin);
    if (end - begin >= STORE_LIMITS.partChars) {
      packed += text.slice(kept, begin) + refer(text.slice(begin, end));
      kept = end;
    }
    begin = text.indexOf('"', end);
  }
  return packed + text.slice(kept);
}

/** The place behind the closing quote of the literal that begins at `begin`. */
function literalEnd(text: string, begin: number): number {
  for (let quote = text.indexOf('"', begin + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}
