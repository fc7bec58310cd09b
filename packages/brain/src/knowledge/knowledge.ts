/** How far an entry can be relied on: a person has checked it, or not. */
export type KnowledgeStatus = "unverified" | "verified";

/** One finding: what is worth knowing, where it comes from, and how far it can be relied on. */
export interface KnowledgeEntry {
  readonly id: string;
  /** Whose runs may find it. */
  readonly owner: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly snippet: string;
  readonly status: KnowledgeStatus;
  /** The run and the place in its journal that it comes from; absent when it was added from outside. */
  readonly source?: { readonly run: string; readonly seq: number };
  /** Who reported the finding: a model in a run, a person, or a program by a token that may not approve. */
  readonly trust: "model" | "person" | "program";
  readonly at: number;
}

/** A part of the entries. */
export interface KnowledgePart {
  /** Whose entries; absent: of all owners. */
  readonly owner?: string;
  readonly status?: KnowledgeStatus;
  /** Only entries whose id ends so. */
  readonly ending?: string;
  /** Id of the last entry that the caller has; NOT_FOUND when it is not among them any more. */
  readonly after?: string;
  readonly limit: number;
}

/** A search of the knowledge. */
export interface KnowledgeQuery extends Omit<KnowledgePart, "ending"> {
  /** Words in any language; accents and capitals do not matter. */
  readonly text: string;
}

/** Findings of earlier runs and of people, with full-text search. Rejections are Faults. */
export interface Knowledge {
  /** Adds an entry, durably; one whose id is known is left as it is. Beyond the bound the oldest unverified one goes. */
  add(entry: KnowledgeEntry): Promise<void>;
  /** The entries that hold all words of the query, best first; those that hold some of them if none holds all. */
  search(query: KnowledgeQuery): Promise<readonly KnowledgeEntry[]>;
  /** Entries, newest first. */
  list(part: KnowledgePart): Promise<readonly KnowledgeEntry[]>;
  /** The entry with that id; undefined when there is none, or it is another owner's. */
  find(id: string, owner?: string): Promise<KnowledgeEntry | undefined>;
  /** Marks an entry as checked by a person; resolves to whether the owner has it. */
  verify(id: string, owner?: string): Promise<boolean>;
  /** Removes an entry; resolves to whether the owner had it. */
  remove(id: string, owner?: string): Promise<boolean>;
  close(): Promise<void>;
}
