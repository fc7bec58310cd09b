import type { JsonObject } from "./json.ts";

/*
 * A reply of a model in the parts that its vendor gave it, in order. Vendors bind thinking to signatures and refuse the
 * next request when a part of the reply is missing, altered or moved, so the parts go back exactly as they came.
 */

/** The parts of one reply as a vendor gives them. */
export interface VendorParts {
  readonly items: readonly ReplyPart[];
  /** The vendor's own data of the whole reply. */
  readonly opaque?: JsonObject;
}

/** The parts of one reply in the journal. */
export interface ReplyParts extends VendorParts {
  /** The model that made them. Another model gets the texts and calls without thinking and without opaque data. */
  readonly from: string;
  /** Thinking was left out because a secret was redacted in it; earlier thinking must not be sent any more, either. */
  readonly gap?: true;
}

/** A text, a passage of thinking or a call. `opaque` is the vendor's own data of the part and is never altered. */
export type ReplyPart = TextPart | CallPart;

/** Text for the reader, or thinking. */
export interface TextPart {
  readonly kind: "text" | "thinking";
  readonly text: string;
  readonly opaque?: JsonObject;
}

/** A call of a tool. */
export interface CallPart {
  readonly kind: "call";
  readonly callId: string;
  readonly tool: string;
  /** Absent when it is the input of the reply's action or control call. */
  readonly input?: JsonObject;
  readonly opaque?: JsonObject;
}

/** Whether the parts hold more than the text and the action that the reply is recorded with anyway. */
export function isWorthKeeping({ items, opaque: ofReply }: VendorParts): boolean {
  const calls = items.filter(({ kind }) => kind === "call");
  return (
    calls.length > 1 ||
    ofReply !== undefined ||
    items.some(({ kind, opaque }) => kind === "thinking" || opaque !== undefined)
  );
}

/**
 * The parts with their secrets redacted. Opaque data is left out where the words beside it had to be changed, and so is
 * a passage of thinking.
 */
export function redactParts(parts: ReplyParts, redact: <T>(value: T) => T): ReplyParts {
  const { from, opaque: ofReply } = parts;
  const isReplyClean = redact(ofReply) === ofReply;
  let hasGap = !isReplyClean;
  const items = parts.items.flatMap((part): readonly ReplyPart[] => {
    const { opaque: _, ...words } = part;
    const clean = redact(words);
    if (clean === words) return [part];
    if (part.kind !== "thinking") return [clean];
    hasGap = true;
    return [];
  });
  return {
    from,
    items,
    ...(ofReply !== undefined && isReplyClean ? { opaque: ofReply } : {}),
    ...(hasGap ? { gap: true } : {}),
  };
}

/** The parts without signed thinking and without opaque data, as a vendor takes them once the conversation was altered. */
export function withoutSignatures(parts: ReplyParts): ReplyParts {
  const items = parts.items.flatMap(({ opaque, ...part }): readonly ReplyPart[] =>
    part.kind === "thinking" && opaque !== undefined ? [] : [part],
  );
  return { ...parts, items };
}

/** The texts and calls alone, for another model than the one that made the parts. */
export function wordsAndCalls(parts: ReplyParts): ReplyParts {
  const items = parts.items.flatMap((part): readonly ReplyPart[] => {
    const { opaque: _, ...words } = part;
    return part.kind === "thinking" ? [] : [words];
  });
  return { from: parts.from, items };
}

/** What the model thought, in words; empty when its vendor does not show it. */
export function thinkingIn({ items }: VendorParts): string {
  return items.map((part) => (part.kind === "thinking" ? part.text : "")).join("");
}

/** A rough size of the parts in characters, beyond the text and the call of the reply. */
export function extraChars({ items }: ReplyParts): number {
  return items.reduce((sum, part) => {
    const words = part.kind === "thinking" ? part.text.length : 0;
    return sum + words + (part.opaque === undefined ? 0 : stringChars(part.opaque));
  }, 0);
}

function stringChars(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let chars = 0;
  for (const item of Object.values(value)) chars += stringChars(item);
  return chars;
}
