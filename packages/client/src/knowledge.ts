import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { documentFoldersOf, documentRecordsOf, knowledgeRecordOf, knowledgeRecordsOf } from "./knowledge-records.ts";
import type { DocumentFolderRecord, DocumentRecord, KnowledgeRecord } from "./knowledge-records.ts";

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

  /** The sections of documents in the configured folders with these words, the best first. */
  async searchDocuments(
    words: string,
    { limit, signal }: SignalOption & { readonly limit?: number } = {},
  ): Promise<readonly DocumentRecord[]> {
    const query = { q: words, limit };
    return documentRecordsOf(await this.#brain.requestJson({ method: "GET", path: "v1/documents", query, signal }));
  }

  /** What is indexed of each configured folder of documents. */
  async documentFolders({ signal }: SignalOption = {}): Promise<readonly DocumentFolderRecord[]> {
    return documentFoldersOf(await this.#brain.requestJson({ method: "GET", path: "v1/documents/folders", signal }));
  }

  /** Looks through the configured folders now, and tells what is indexed then. Takes the scope admin. */
  async indexDocuments({ signal }: SignalOption = {}): Promise<readonly DocumentFolderRecord[]> {
    return documentFoldersOf(await this.#brain.requestJson({ method: "POST", path: "v1/documents/index", signal }));
  }
}

function pathOf(id: string): string {
  return `v1/knowledge/${encodeURIComponent(id)}`;
}
