import { randomUUIDv7 } from "node:crypto";
import type { Brain } from "@vidro/brain";
import type { KnowledgeRecord } from "@vidro/client";
import { Fault, KNOWLEDGE_LIMITS, PAGE_LIMITS } from "@vidro/core";
import type { BrainApi } from "./brain-api.ts";

type Entry = Parameters<Brain["knowledge"]["add"]>[0];

/** The knowledge of this home, as the person at this machine sees it: the entries of all owners. */
export function embeddedKnowledge(open: () => Promise<Brain>): BrainApi["knowledge"] {
  const knowledge = async (): Promise<Brain["knowledge"]> => (await open()).knowledge;
  const find = async (id: string): Promise<Entry> => {
    const found = await (await knowledge()).find(id);
    if (found === undefined) throw new Fault("NOT_FOUND", `There is no entry ${JSON.stringify(id)} in the knowledge.`);
    return found;
  };
  return {
    list: async (part) => (await (await knowledge()).list({ limit: PAGE_LIMITS.items, ...part })).map(recordOf),
    search: async (text, part) =>
      (await (await knowledge()).search({ limit: PAGE_LIMITS.items, ...part, text })).map(recordOf),
    find: async (id) => recordOf(await find(id)),
    async add({ title, tags = [], snippet = "", status = "unverified" }) {
      const { LOCAL_OWNER } = await import("@vidro/brain");
      const about = { id: `kb_${randomUUIDv7()}`, owner: LOCAL_OWNER, trust: "person", at: Date.now() } as const;
      const entry: Entry = { ...about, title, tags, snippet, status };
      await (await knowledge()).add(entry);
      return recordOf(entry);
    },
    async verify(id) {
      const entry = await find(id);
      await (await knowledge()).verify(id);
      return recordOf({ ...entry, status: "verified" });
    },
    async remove(id) {
      await find(id);
      await (await knowledge()).remove(id);
    },
    searchDocuments: async (words, part) =>
      (await open()).documents.search(words, part?.limit ?? KNOWLEDGE_LIMITS.docsUnasked),
    documentFolders: async () => (await open()).documents.status(),
    async indexDocuments() {
      const { documents } = await open();
      await documents.refresh();
      return documents.status();
    },
  };
}

function recordOf({ source, ...entry }: Entry): KnowledgeRecord {
  return { ...entry, source: source ?? null };
}
