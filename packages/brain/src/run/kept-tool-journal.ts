import { Fault, PAGE_LIMITS } from "@vidro/core";
import type { Entry, Journal, NewRecord, Records } from "@vidro/core";
import type { KeptTools } from "../catalog/kept-tools.ts";
import { forwardJournal } from "../stores/forward-journal.ts";

/** An answer whose tool may still have to be kept; the record is made in the commit of the answer. */
const DUE = "kept_tool_due";

/** Dependencies of a journal that keeps approved tools. */
interface KeptToolDependencies {
  readonly kept: Pick<KeptTools, "keep">;
  readonly records: Pick<Records, "list" | "delete">;
  /** Gets what kept a tool from being kept; the run goes on, since its journal has the answer. */
  readonly failed: (thrown: unknown) => void;
}

/**
 * The same journal; a proposed tool that a person approves is kept for later runs once the answer is durable. What a
 * process left undone, the next one that takes up a run does.
 */
export function keptToolJournal(inner: Journal, { kept, records, failed }: KeptToolDependencies): Journal {
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
  const settle = async (run: string, entry: Entry): Promise<void> => {
    try {
      await keep(run, entry);
    } catch (thrown) {
      failed(thrown);
      // Too many are kept: it is refused for good.
      if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) return;
    }
    await records.delete(DUE, dueId(run, entry.seq));
  };
  const settleDue = async (id: string): Promise<void> => {
    const [, run = "", seq = ""] = /^(.*)\.(\d+)$/.exec(id) ?? [];
    const [entry] = (await inner.head(run)) === undefined ? [] : await inner.read(run, Number(seq) - 1, 1);
    if (entry === undefined) await records.delete(DUE, id);
    else await settle(run, entry);
  };
  const settleLeft = async (): Promise<void> => {
    for (const { id } of await records.list(DUE, { limit: PAGE_LIMITS.items })) await settleDue(id).catch(failed);
  };
  return {
    ...forwardJournal(inner),
    async append(lease, entries, beside = []) {
      const due = entries.filter(mayApproveTool);
      await inner.append(lease, entries, [...beside, ...due.map(({ seq }) => dueRecord(lease.run, seq))]);
      for (const entry of due) await settle(lease.run, entry).catch(failed);
    },
    async lease(run, holder) {
      const lease = await inner.lease(run, holder);
      await settleLeft().catch(failed);
      return lease;
    },
  };
}

/** Whether an entry may be a person's yes to a proposed tool: which question it answers, it does not say. */
function mayApproveTool({ event }: Entry): boolean {
  return event.type === "question.answered" && event.by !== undefined && event.input === undefined;
}

function dueId(run: string, seq: number): string {
  return `${run}.${seq}`;
}

function dueRecord(run: string, seq: number): NewRecord {
  return { kind: DUE, id: dueId(run, seq), owner: "", body: {} };
}
