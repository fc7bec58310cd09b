import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PAGE_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { andOneMore, itemsIn, pageOf, pageQuery, pageReply } from "./paging.ts";
import type { Page } from "./paging.ts";

const LETTERS = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
const idOf = ({ id }: { readonly id: string }): string => id;

/** A page of the letters, and the cursor of the next one. */
function page(wanted: Page): { readonly ids: readonly string[]; readonly next: string | undefined } {
  const reply = pageReply(itemsIn(LETTERS, wanted, idOf), wanted, { id: idOf, json: (items) => items.map(idOf) });
  const headers = "headers" in reply ? reply.headers : undefined;
  return { ids: ("json" in reply ? reply.json : []) as string[], next: headers?.["x-next-cursor"] };
}

describe("a list page by page", () => {
  it("gives every item once, in its order, for every size of a page", () => {
    for (let limit = 1; limit <= 7; limit += 1) {
      const seen: string[] = [];
      let after: string | undefined;
      let pages = 0;
      do {
        const { ids, next } = page({ limit, ...(after === undefined ? {} : { after }) });
        seen.push(...ids);
        after = next;
        pages += 1;
      } while (after !== undefined);
      assert.deepEqual(seen, LETTERS.map(idOf), `${limit}`);
      assert.equal(pages, Math.ceil(LETTERS.length / limit), `${limit}`);
    }
  });

  it("names no cursor with the last page, also when that is full", () => {
    assert.deepEqual(page({ limit: 5 }), { ids: ["a", "b", "c", "d", "e"], next: undefined });
    assert.deepEqual(page({ limit: 2, after: "c" }), { ids: ["d", "e"], next: undefined });
    assert.deepEqual(page({ limit: 2, after: "e" }), { ids: [], next: undefined });
  });

  it("says what to do when the item of the cursor is gone", () => {
    assert.throws(() => page({ limit: 2, after: "x" }), { code: "NOT_FOUND", message: /"x" is no longer in the list/ });
  });

  it("is asked for by the query of a call", () => {
    assert.deepEqual(pageOf({ query: { limit: "7" } }), { limit: 7 });
    assert.deepEqual(pageOf({ query: { limit: "7", after: "a" } }), { limit: 7, after: "a" });
    assert.deepEqual(andOneMore({ limit: 7, after: "a", state: "open" }), {
      limit: 8,
      after: "a",
      state: "open",
    });
  });

  it("has a bounded size, and a schema that refuses fields that are not known", () => {
    const { properties, additionalProperties } = pageQuery({ state: { type: "string" } }, 20) as {
      properties: { limit: JsonObject; after: JsonObject; state: JsonObject };
      additionalProperties: boolean;
    };
    assert.equal(additionalProperties, false);
    assert.deepEqual([properties.limit["default"], properties.limit["maximum"]], [20, PAGE_LIMITS.items]);
    assert.equal(properties.after["maxLength"], PAGE_LIMITS.cursorChars);
    assert.deepEqual(properties.state, { type: "string" });
  });
});
