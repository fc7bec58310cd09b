import type { Entry, Journal } from "@vidro/core";
import type { KeptTools } from "../catalog/kept-tools.ts";
import { forwardJournal } from "../stores/forward-journal.ts";

/** The same journal; a proposed tool that a person approves is kept for later runs once the answer is durable. */
export function keptToolJournal(
  inner: Journal,
  kept: Pick<KeptTools, "keep">,
  failed: (thrown: unknown) => void,
): Journal {
  const keep = async (run: string, { seq, at, event }: Entry): Promise<void> => {
    if (event.type !== "question.answered" || event.by === undefined) return;
    // A question is the entry that its id begins with, and follows the proposal at once.
    const asked = Number(/^q(\d+)/.exec(event.id)?.[1] ?? seq);
    const [question] = await inner.read(run, asked - 1, 1);
    if (question?.event.type !== "question.asked" || question.event.id !== event.id) return;
    const { about, options } = question.event;
    if (about.kind !== "tool" || event.answer !== options[0]) return;
    const head = await inner.head(run);
    if (head === undefined) return;
    const source = { run, seq: asked - 1 };
    await kept.keep({ owner: head.owner, thread: head.thread }, { tool: about.tool, by: event.by, at, source });
  };
  return {
    ...forwardJournal(inner),
    async append(lease, entries) {
      await inner.append(lease, entries);
      // The run has the tool whatever becomes of the record: its journal has the answer.
      for (const entry of entries) await keep(lease.run, entry).catch(failed);
    },
  };
}
