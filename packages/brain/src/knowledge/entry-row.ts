import { KNOWLEDGE_LIMITS } from "@vidro/core";
import type { KnowledgeEntry } from "./knowledge.ts";

/** What a knowledge base calls its entries to people. */
export const KNOWLEDGE_KIND = "entry of the knowledge";

/** An entry as tables have it. */
export interface EntryRow extends Pick<KnowledgeEntry, "id" | "owner" | "title" | "snippet" | "at"> {
  /** A list, as JSON. */
  readonly tags: string;
  readonly status: string;
  readonly trust: string;
  readonly run: string | null;
  readonly seq: number | null;
}

/** The row of an entry, its texts cut to their bounds. */
export function boundedEntry({ tags, source, title, snippet, ...entry }: KnowledgeEntry): EntryRow {
  return {
    ...entry,
    title: cut(title, KNOWLEDGE_LIMITS.titleChars),
    tags: JSON.stringify(tags.slice(0, KNOWLEDGE_LIMITS.tags).map((tag) => cut(tag, KNOWLEDGE_LIMITS.titleChars))),
    snippet: cut(snippet, KNOWLEDGE_LIMITS.snippetChars),
    run: source?.run ?? null,
    seq: source?.seq ?? null,
  };
}

/** No store takes half a character, and PostgreSQL no NUL. */
function cut(text: string, chars: number): string {
  return text.slice(0, chars).replaceAll("\0", "").toWellFormed();
}

/** The entry of a row. */
export function entryOf({ id, owner, title, tags, snippet, status, trust, run, seq, at }: EntryRow): KnowledgeEntry {
  const list: unknown = JSON.parse(tags);
  return {
    id,
    owner,
    title,
    tags: Array.isArray(list) ? list.map(String) : [],
    snippet,
    status: status === "verified" ? "verified" : "unverified",
    ...(run === null ? {} : { source: { run, seq: seq ?? 0 } }),
    trust: trust === "person" || trust === "program" ? trust : "model",
    at,
  };
}

/** Counting all entries takes long when there are many, so that it is done once for so many that are added. */
export function excessCheck(bound: number): () => boolean {
  const every = Math.max(1, Math.floor(bound / KNOWLEDGE_LIMITS.ranked));
  let added = 0;
  return () => (added += 1) % every === 0;
}
