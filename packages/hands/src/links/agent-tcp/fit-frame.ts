import type { JsonObject } from "@vidro/core";
import { headOf } from "@vidro/core/text";

/** Bytes reserved for an answer's fields besides its list. */
const FRAME_BYTES = 2048;

/** The first items that fit into a frame, and whether they are all. */
export function fitItems<Item extends JsonObject>(
  items: readonly Item[],
  maxBytes: number,
): { readonly items: readonly Item[]; readonly all: boolean } {
  let left = maxBytes - FRAME_BYTES;
  const over = items.findIndex((item) => (left -= Buffer.byteLength(JSON.stringify(item)) + 1) < 0);
  return over === -1 ? { items, all: true } : { items: items.slice(0, over), all: false };
}

/** The beginning of a text that takes at most `maxBytes` as JSON. */
export function fitText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(JSON.stringify(text)) <= maxBytes) return text;
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (Buffer.byteLength(JSON.stringify(text.slice(0, middle))) <= maxBytes) least = middle;
    else most = middle - 1;
  }
  return headOf(text, least);
}
