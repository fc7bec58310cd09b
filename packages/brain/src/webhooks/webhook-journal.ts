import type { Journal } from "@vidro/core";
import { forwardJournal } from "../stores/forward-journal.ts";
import type { Webhooks } from "./webhooks.ts";

/** The same journal; messages for webhooks are recorded in the commit of the entries that they are about. */
export function webhookJournal(inner: Journal, webhooks: Pick<Webhooks, "messagesAbout">): Journal {
  return {
    ...forwardJournal(inner),
    create(run, entries, holder) {
      const beside = [...(run.beside ?? []), ...webhooks.messagesAbout(run.id, entries)];
      return inner.create(beside.length === 0 ? run : { ...run, beside }, entries, holder);
    },
    append: (lease, entries, beside = []) =>
      inner.append(lease, entries, [...beside, ...webhooks.messagesAbout(lease.run, entries)]),
  };
}
