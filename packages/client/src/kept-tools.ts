import type { Json, JsonObject } from "@vidro/core";
import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { listIn, objectIn, optionalTextField, textField } from "./record-fields.ts";

/** A tool that a model proposed and a person approved. */
export interface KeptToolRecord {
  /** Its name, and behind a dot its thread, unless all threads of its owner have it. */
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** Its thread; null when all threads of its owner have it. */
  readonly thread: string | null;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly parameters: JsonObject;
  /** Its command; `{name}` stands for an input. */
  readonly argv: readonly string[];
  /** Who approved it. */
  readonly by: string;
  readonly at: number;
  /** The proposal in its journal. */
  readonly source: { readonly run: string; readonly seq: number };
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** The approved tools of a brain's threads. */
export class KeptToolApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Lists approved tools; those of threads that changed last come first. */
  async list(part: ListPart = {}): Promise<readonly KeptToolRecord[]> {
    return this.#brain.list({ path: PATH }, part, (json) =>
      listIn(objectIn(json, "tools")["tools"], "tools").map(recordOf),
    );
  }

  /** One of them by its id. NOT_FOUND when there is no such tool. */
  async find(id: string, { signal }: SignalOption = {}): Promise<KeptToolRecord> {
    return recordOf(await this.#brain.requestJson({ method: "GET", path: pathOf(id), signal }));
  }

  /** Removes a tool; later runs do not have it. */
  async remove(id: string, { signal }: SignalOption = {}): Promise<void> {
    await this.#brain.request({ method: "DELETE", path: pathOf(id), signal });
  }

  /** Lets all threads of its owner have the tool of one; takes the right to approve. */
  async promote(id: string, { signal }: SignalOption = {}): Promise<KeptToolRecord> {
    return recordOf(await this.#brain.requestJson({ method: "POST", path: `${pathOf(id)}/promote`, body: {}, signal }));
  }
}

const PATH = "v1/tools/proposed";

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

function recordOf(json: Json): KeptToolRecord {
  const tool = objectIn(json, "an approved tool");
  const source = objectIn(tool["source"], "the source of a tool");
  return {
    id: textField(tool, "id"),
    name: textField(tool, "name"),
    owner: textField(tool, "owner"),
    thread: optionalTextField(tool, "thread"),
    description: textField(tool, "description"),
    parameters: objectIn(tool["parameters"], "the parameters of a tool"),
    argv: listIn(tool["argv"], "the words of a command").map(String),
    by: textField(tool, "by"),
    at: Number(tool["at"]),
    source: { run: textField(source, "run"), seq: Number(source["seq"]) },
  };
}
