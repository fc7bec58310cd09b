import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { knowledgeRecordOf, knowledgeRecordsOf } from "./records.ts";
import type { KnowledgeRecord } from "./records.ts";

/** The fields of an entry to add. */
export interface KnowledgeDraft {
  readonly title: string;
  readonly tags?: readonly string[];
  /** What is worth knowing. */
  readonly snippet?: string;
  /** `verified` takes the scope approve. */
  readonly status?: KnowledgeRecord["status"];
}

/** Which entries to find. */
interface KnowledgeSearchPart extends ListPart {
  readonly status?: KnowledgeRecord["status"];
}

/** Which entries to list. */
export interface KnowledgeListPart extends KnowledgeSearchPart {
  /** Only entries whose id ends so. */
  readonly ending?: string;
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** The knowledge of a brain: findings of runs and of people, with full-text search. */
export class KnowledgeApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Lists entries, newest first. */
  async list({ status, ending, ...part }: KnowledgeListPart = {}): Promise<readonly KnowledgeRecord[]> {
    return this.#brain.list({ path: "v1/knowledge", query: { status, ending } }, part, knowledgeRecordsOf);
  }

  /** The entries with these words, the best first. */
  async search(words: string, { status, ...part }: KnowledgeSearchPart = {}): Promise<readonly KnowledgeRecord[]> {
    return this.#brain.list({ path: "v1/knowledge", query: { q: words, status } }, part, knowledgeRecordsOf);
  }

  /** The entry with that id; NOT_FOUND when there is none. */
  async find(id: string, { signal }: SignalOption = {}): Promise<KnowledgeRecord> {
    return knowledgeRecordOf(await this.#brain.requestJson({ method: "GET", path: pathOf(id), signal }));
  }

  /** Adds an entry. */
  async add(draft: KnowledgeDraft, { signal }: SignalOption = {}): Promise<KnowledgeRecord> {
    const body = { ...draft };
    return knowledgeRecordOf(await this.#brain.requestJson({ method: "POST", path: "v1/knowledge", body, signal }));
  }

  /** Marks an entry as checked by a person. */
  async verify(id: string, { signal }: SignalOption = {}): Promise<KnowledgeRecord> {
    return knowledgeRecordOf(await this.#brain.requestJson({ method: "POST", path: `${pathOf(id)}/verify`, signal }));
  }

  /** Removes an entry. */
  async remove(id: string, { signal }: SignalOption = {}): Promise<void> {
    await this.#brain.request({ method: "DELETE", path: pathOf(id), signal });
  }
}

function pathOf(id: string): string {
  return `v1/knowledge/${encodeURIComponent(id)}`;
}
