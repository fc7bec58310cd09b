import { hash } from "node:crypto";
import { REGISTER_LIMITS } from "@vidro/core";
import type { JsonObject, Records, ToolSpec } from "@vidro/core";
import { shareTools } from "./share-tools.ts";

const KIND = "hand-tools";
/** Tool lists have no owner: who may see a hand may see its tools. */
const OWNER = "hands";

/**
 * The tool lists of hands in the store, each written once for all hands with equal tools: a list is much larger than the
 * rest of a hand, which is written at each connection.
 */
export class ToolLists {
  readonly #records: Records;
  readonly #names = new WeakMap<readonly ToolSpec[], Promise<string>>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** The id of a list; the list is durable when it resolves. */
  nameOf(tools: readonly ToolSpec[]): Promise<string> {
    const known = this.#names.get(tools);
    if (known !== undefined) return known;
    const named = this.#keep(tools);
    this.#names.set(tools, named);
    named.catch(() => this.#names.delete(tools));
    return named;
  }

  /**
   * The lists in use, by id. The others are deleted, unless they were written after `since`: another brain on the store
   * writes a list before the hand that has it.
   */
  async all(inUse: ReadonlySet<string>, since: number): Promise<ReadonlyMap<string, readonly ToolSpec[]>> {
    const lists = new Map<string, readonly ToolSpec[]>();
    for (const { id, body, updatedAt } of await this.#records.list(KIND, { limit: REGISTER_LIMITS.known })) {
      if (inUse.has(id)) lists.set(id, shareTools(toolsIn(body)));
      else if (updatedAt <= since) await this.#records.delete(KIND, id);
    }
    return lists;
  }

  /** The list of an id; undefined when it is lost. */
  async find(id: string): Promise<readonly ToolSpec[] | undefined> {
    const record = await this.#records.get(KIND, id);
    return record === undefined ? undefined : shareTools(toolsIn(record.body));
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
