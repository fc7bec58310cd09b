import { KNOWLEDGE_LIMITS } from "@vidro/core";
import type { Entry, Journal } from "@vidro/core";
import { forwardJournal } from "../stores/forward-journal.ts";
import type { Knowledge, KnowledgeEntry } from "./knowledge.ts";

/** The same journal; findings and notes of models become entries of the knowledge base once they are durable. */
export function knowledgeJournal(inner: Journal, knowledge: Knowledge, failed: (thrown: unknown) => void): Journal {
  const learn = async (run: string, entries: readonly Entry[]): Promise<void> => {
    const found = entries.flatMap((entry) => findingOf(run, entry));
    if (found.length === 0) return;
    const owner = (await inner.head(run))?.owner;
    for (const finding of found) if (owner !== undefined) await knowledge.add({ ...finding, owner });
  };
  return {
    ...forwardJournal(inner),
    async append(lease, entries, beside) {
      await inner.append(lease, entries, beside);
      // The run goes on whatever becomes of the knowledge base: the journal has the finding.
      await learn(lease.run, entries).catch(failed);
    },
  };
}

function findingOf(run: string, { seq, at, event }: Entry): readonly Omit<KnowledgeEntry, "owner">[] {
  const about = { id: `kb_${run}_${seq}`, status: "unverified", trust: "model", source: { run, seq }, at } as const;
  if (event.type === "knowledge.committed") {
    const { title, tags, snippet } = event;
    return [{ ...about, title, tags, snippet }];
  }
  if (event.type !== "note.observed" || event.note.trim() === "") return [];
  const [title = ""] = event.note.trim().split("\n");
  return [{ ...about, title: title.slice(0, KNOWLEDGE_LIMITS.titleChars), tags: ["note"], snippet: event.note }];
}
