import { asFault, countWords, TERMINAL } from "@vidro/core";
import type { Journal, RunHead } from "@vidro/core";
import { EXIT } from "../exit.ts";
import { findRun } from "../find-run.ts";
import { paint } from "../marks.ts";
import { print, sayJson } from "../tell.ts";
import { withBrain } from "../with-brain.ts";

/** What an audit came to; `complete` is false when there are more runs than one audit checks. */
interface Sum {
  readonly runs: number;
  readonly entries: number;
  readonly broken: number;
  readonly complete: boolean;
}

/** Checks the hash chain of one run or of all, and names what is broken. */
export async function verify(given: string | undefined, flags: { readonly json?: boolean }): Promise<number> {
  return withBrain(async (brain) => {
    const heads =
      given === undefined ? await brain.runs.list({ limit: TERMINAL.auditedRuns }) : [await findRun(brain.runs, given)];
    const sum = { runs: heads.length, entries: 0, broken: 0, complete: heads.length < TERMINAL.auditedRuns };
    for (const head of heads) {
      const { id } = head;
      const { entries, brokenAt, reason = "the chain is broken" } = await verified(brain.journal, head);
      sum.entries += entries;
      if (brokenAt !== undefined) sum.broken += 1;
      if (flags.json === true)
        sayJson({ run_id: id, ok: brokenAt === undefined, entries, ...(brokenAt && { broken_at: brokenAt, reason }) });
      else if (brokenAt !== undefined) {
        print(`${paint("red", "broken")} ${id} at entry ${brokenAt}: ${reason}\n`);
      }
    }
    if (flags.json === true) sayJson({ ok: sum.broken === 0, ...sum });
    else print(`${sumWords(sum)}\n`);
    return sum.broken === 0 ? EXIT.ok : EXIT.failed;
  });
}

/** What the check of a run comes to; one whose very name cannot be read has no sound entry. */
async function verified(journal: Journal, { id, damaged }: RunHead): ReturnType<Journal["verify"]> {
  try {
    return await journal.verify(id);
  } catch (thrown) {
    const reason = damaged ?? asFault(thrown).message;
    return { entries: 0, brokenAt: 1, reason };
  }
}

function sumWords({ runs, entries, broken, complete }: Sum): string {
  const checked = `${complete ? "" : "only the newest "}${countWords(runs, "run")} checked`;
  if (broken === 0)
    return `${paint("green", "ok")} ${checked}, every hash chain is whole (${countWords(entries, "link")}).`;
  return `${paint("red", "fail")} ${checked}, ${broken} broken: what follows a break cannot be trusted.`;
}
