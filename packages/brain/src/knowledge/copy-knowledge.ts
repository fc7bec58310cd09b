import { PAGE_LIMITS } from "@vidro/core";
import type { Knowledge } from "./knowledge.ts";

/** Copies all entries, the oldest first, and closes both knowledge bases; entries that are there already stay. */
export async function copyKnowledge(from: Knowledge, to: Knowledge): Promise<void> {
  try {
    const ids: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await from.list({ limit: PAGE_LIMITS.items, ...(after === undefined ? {} : { after }) });
      ids.push(...page.map(({ id }) => id));
      after = page.at(-1)?.id;
      if (after === undefined) break;
    }
    for (const id of ids.toReversed()) {
      const entry = await from.find(id);
      if (entry !== undefined) await to.add(entry);
    }
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}
