import { countWords, printable, TERMINAL } from "@vidro/core";
import { EXIT } from "../exit.ts";
import { findRun } from "../find-run.ts";
import { paint } from "../marks.ts";
import { sayJson } from "../tell.ts";
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
    for (const { id } of heads) {
      const { entries, brokenAt, reason = "the chain is broken" } = await brain.journal.verify(id);
      sum.entries += entries;
      if (brokenAt !== undefined) sum.broken += 1;
      if (flags.json === true)
        sayJson({ run_id: id, ok: brokenAt === undefined, entries, ...(brokenAt && { broken_at: brokenAt, reason }) });
      else if (brokenAt !== undefined) {
        process.stdout.write(`${paint("red", "broken")} ${id} at entry ${brokenAt}: ${printable(reason)}\n`);
      }
    }
    if (flags.json === true) sayJson({ ok: sum.broken === 0, ...sum });
    else process.stdout.write(`${sumWords(sum)}\n`);
    return sum.broken === 0 ? EXIT.ok : EXIT.failed;
  });
}

function sumWords({ runs, entries, broken, complete }: Sum): string {
  const checked = `${complete ? "" : "only the newest "}${countWords(runs, "run")} checked`;
  if (broken === 0)
    return `${paint("green", "ok")} ${checked}, every hash chain is whole (${countWords(entries, "link")}).`;
  return `${paint("red", "fail")} ${checked}, ${broken} broken: what follows a break cannot be trusted.`;
}
