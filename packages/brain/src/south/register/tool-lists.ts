import { hash } from "node:crypto";
import { REGISTER_LIMITS } from "@vidro/core";
import type { JsonObject, Records, ToolSpec } from "@vidro/core";
import { shareTools } from "./share-tools.ts";

const KIND = "hand-tools";
/** They are nobody's: who may see a hand sees what it can do. */
const OWNER = "hands";

/**
 * What hands can do, on record once for all that can do the same: of all that is known of a hand it is by far the most,
 * and a hand is written down each time it comes.
 */
export class ToolLists {
  readonly #records: Records;
  readonly #names = new WeakMap<readonly ToolSpec[], Promise<string>>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** The name of a list, which is on record when it resolves. */
  nameOf(tools: readonly ToolSpec[]): Promise<string> {
    const known = this.#names.get(tools);
    if (known !== undefined) return known;
    const named = this.#keep(tools);
    this.#names.set(tools, named);
    named.catch(() => this.#names.delete(tools));
    return named;
  }

  /** The lists by their names; those that are not in use are forgotten. */
  async all(inUse: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly ToolSpec[]>> {
    const lists = new Map<string, readonly ToolSpec[]>();
    for (const { id, body } of await this.#records.list(KIND, { limit: REGISTER_LIMITS.known })) {
      if (inUse.has(id)) lists.set(id, shareTools(toolsIn(body)));
      else await this.#records.delete(KIND, id);
    }
    return lists;
  }

  async #keep(tools: readonly ToolSpec[]): Promise<string> {
    const id = hash("sha256", JSON.stringify(tools));
    await this.#records.put({ kind: KIND, id, owner: OWNER, body: { tools } as unknown as JsonObject });
    return id;
  }
}

function toolsIn(body: JsonObject): readonly ToolSpec[] {
  return (body as unknown as { readonly tools: readonly ToolSpec[] }).tools;
}
