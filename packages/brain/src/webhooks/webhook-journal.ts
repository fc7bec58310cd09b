import type { Journal } from "@vidro/core";
import { forwardJournal } from "../stores/forward-journal.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * The same journal; messages for webhooks are recorded with the entries that they are about. Both are asked for in one
 * turn of the event loop, so that appends keep their order and a store in a file has them in one commit.
 */
export function webhookJournal(inner: Journal, webhooks: Pick<Webhooks, "expect" | "isTold">): Journal {
  return {
    ...forwardJournal(inner),
    async create(run, entries, holder) {
      const told = webhooks.isTold(entries) ? webhooks.expect(run.id, entries) : undefined;
      const [made] = await Promise.all([inner.create(run, entries, holder), told]);
      return made;
    },
    async append(lease, entries) {
      const told = webhooks.isTold(entries) ? webhooks.expect(lease.run, entries) : undefined;
      await Promise.all([inner.append(lease, entries), told]);
    },
  };
}
