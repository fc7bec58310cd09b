import type { MetadataExtractor } from "@ai-sdk/openai-compatible";
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import { isObject } from "@vidro/core";
import type { JsonObject, ReplyParts } from "@vidro/core";

/*
 * Servers with OpenAI's chat completions give a model's thinking in a field of the message, under one of several names.
 * Some of them refuse the next request unless the same field comes back with the message, also when it was empty.
 */

/** Fields with the thinking as one text. */
const TEXT_FIELDS = ["reasoning_content", "reasoning"] as const;
/** Field with the thinking as a list of blocks, some of them signed or encrypted. */
const BLOCKS_FIELD = "reasoning_details";
/** Name under which the fields of a reply are kept. */
const KEPT_AS = "thinkingFields";

/** Collects the fields in which a server streams thinking. */
export const thinkingExtractor: MetadataExtractor = {
  extractMetadata: () => Promise.resolve(undefined),
  createStreamExtractor: () => {
    const texts = new Set<string>();
    const blocks: Block[] = [];
    return {
      processChunk(chunk) {
        const delta = deltaOf(chunk);
        for (const field of TEXT_FIELDS) if (typeof delta[field] === "string") texts.add(field);
        const added = delta[BLOCKS_FIELD];
        if (Array.isArray(added)) for (const block of added) if (isObject(block)) addBlock(blocks, block);
      },
      buildMetadata() {
        if (texts.size === 0 && blocks.length === 0) return undefined;
        return { [KEPT_AS]: { texts: [...texts], ...(blocks.length === 0 ? {} : { blocks }) } };
      },
    };
  },
};

/** The kept fields among the metadata of a finished reply. */
export function thinkingFieldsOf(metadata: { readonly [vendor: string]: unknown } | undefined): JsonObject | undefined {
  const kept = metadata?.[KEPT_AS];
  return isObject(kept) ? { [KEPT_AS]: kept } : undefined;
}

/** Settings that put the thinking of a reply into the fields in which it came; undefined when it came in none. */
export function thinkingOptions({ items, opaque }: ReplyParts): SharedV4ProviderOptions | undefined {
  const kept = opaque?.[KEPT_AS];
  if (!isObject(kept)) return undefined;
  const text = items.map((part) => (part.kind === "thinking" ? part.text : "")).join("");
  const fields = Array.isArray(kept["texts"]) ? kept["texts"].map((name) => [String(name), text] as const) : [];
  const blocks = kept["blocks"] === undefined ? {} : { [BLOCKS_FIELD]: kept["blocks"] };
  return { openaiCompatible: { ...Object.fromEntries(fields), ...blocks } };
}

type Block = { [field: string]: JsonObject[string] };

/** Fields of a block that come in pieces. */
const GROWING: ReadonlySet<string> = new Set(["text", "summary", "data"]);

/** Adds a block, or continues the last one when the server says that it is the same. */
function addBlock(blocks: Block[], piece: JsonObject): void {
  const last = blocks.at(-1);
  const isSame = last !== undefined && last["type"] === piece["type"] && last["index"] === piece["index"];
  if (!isSame) {
    blocks.push({ ...piece });
    return;
  }
  for (const [field, value] of Object.entries(piece)) {
    const before = last[field];
    const grows = GROWING.has(field) && typeof before === "string" && typeof value === "string";
    if (grows) last[field] = before + value;
    else if (value !== null) last[field] = value;
  }
}

function deltaOf(chunk: unknown): { readonly [field: string]: unknown } {
  const choices = isObject(chunk) ? chunk["choices"] : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const delta = isObject(first) ? first["delta"] : undefined;
  return isObject(delta) ? delta : {};
}
