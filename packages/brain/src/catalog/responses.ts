import { Fault } from "@vidro/core";
import type { Json, JsonObject, Records } from "@vidro/core";

/** A response that its client may come back to; what was said is in the journal of its run. */
export interface StoredResponse {
  readonly id: string;
  readonly owner: string;
  readonly run: string;
  /** The last entry of the run before the response. */
  readonly after: number;
  /** The agent's name. */
  readonly model: string;
  readonly createdAt: number;
  /** Fields of the request that each form of the response repeats. */
  readonly echo: JsonObject;
}

const KIND = "response";

/** The responses that were stored; each owner sees only its own. */
export class StoredResponses {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Stores a response; the same one may be stored again. */
  async put({ id, owner, ...body }: StoredResponse): Promise<void> {
    await this.#records.put({ kind: KIND, id, owner, body: body as Json as JsonObject });
  }

  /** The response of that id; NOT_FOUND when it was not stored, was deleted, or belongs to another owner. */
  async find(id: string, owner: string): Promise<StoredResponse> {
    const record = await this.#records.get(KIND, id);
    if (record?.owner !== owner) throw new Fault("NOT_FOUND", `There is no stored response ${JSON.stringify(id)}.`);
    return { ...(record.body as Json as unknown as Omit<StoredResponse, "id" | "owner">), id, owner };
  }

  /** Deletes a response; its run stays in the journal. NOT_FOUND as for `find`. */
  async delete(id: string, owner: string): Promise<void> {
    await this.find(id, owner);
    await this.#records.delete(KIND, id);
  }
}
