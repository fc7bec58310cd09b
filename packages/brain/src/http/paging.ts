import { Fault, PAGE_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { RouteCall, Reply } from "./route.ts";

/*
 * Lists page by page. The answer keeps the shape of its contract; the cursor of the next page is in a header, so that a
 * client that knows no pages gets the first one.
 */

/** The header that names the cursor of the next page; there is none with the last page. */
const NEXT_CURSOR = "x-next-cursor";

/** The part of a list that a request asks for. */
export interface Page {
  readonly limit: number;
  /** The cursor: the id of the last item that the client has. */
  readonly after?: string;
}

/** The query schema of a route that lists, with further fields; `limit` is the default size of a page. */
export function pageQuery(fields: JsonObject = {}, limit: number = PAGE_LIMITS.items): JsonObject {
  const properties = {
    ...fields,
    limit: { type: "integer", minimum: 1, maximum: PAGE_LIMITS.items, default: limit },
    after: {
      type: "string",
      minLength: 1,
      maxLength: PAGE_LIMITS.cursorChars,
      description: "The cursor that `X-Next-Cursor` of the page before gave.",
    },
  };
  return { type: "object", additionalProperties: false, properties };
}

/** The page that a call asks for. */
export function pageOf({ query: { limit, after } }: Pick<RouteCall, "query">): Page {
  return { limit: Number(limit), ...(after === undefined ? {} : { after }) };
}

/** The page with one more item, by which `pageReply` knows whether there is a next page. */
export function andOneMore<Wanted extends Page>(page: Wanted): Wanted {
  return { ...page, limit: page.limit + 1 };
}

/** The items of a page, and one more, of a list in memory; NOT_FOUND when the item of the cursor is gone. */
export function itemsIn<Item>(all: readonly Item[], { limit, after }: Page, idOf: (item: Item) => string): Item[] {
  const place = after === undefined ? 0 : all.findIndex((item) => idOf(item) === after) + 1;
  if (after !== undefined && place === 0)
    throw new Fault("NOT_FOUND", `${JSON.stringify(after)} is no longer in the list: begin without \`after\`.`);
  return all.slice(place, place + limit + 1);
}

/** The answer with a page, given its items and one more if there is one. */
export function pageReply<Item>(
  items: readonly Item[],
  { limit }: Page,
  { id, json }: { readonly id: (item: Item) => string; readonly json: (items: readonly Item[]) => Json },
): Reply {
  const shown = items.slice(0, limit);
  const last = items.length > limit ? shown.at(-1) : undefined;
  return { json: json(shown), ...(last === undefined ? {} : { headers: { [NEXT_CURSOR]: id(last) } }) };
}
