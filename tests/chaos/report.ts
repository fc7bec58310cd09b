import type { Entry } from "@vidro/core";
import type { ChaosReport } from "./chaos.ts";
import type { ChaosOptions } from "./plan.ts";

const EVENT_CHARS = 300;
const JOURNALS = 5;

/** What a course came to, in a few lines. */
export function summaryWords({ seed }: ChaosOptions, { counts, violations }: ChaosReport): string {
  const lines = Object.entries(counts).map(([what, count]) => `  ${what.padEnd(22)} ${count}`);
  const broken = new Set(violations.map(({ run, what }) => run ?? what)).size;
  const runs = counts["runs"] ?? 0;
  const failed = Math.min(broken, runs);
  return `chaos: seed ${seed}\n${lines.join("\n")}\n  ${runs - failed} passed, ${failed} failed, ${violations.length} violations\n`;
}

/** Each violation, and the journals of the runs that they are about. */
export function failureWords({ seed, seconds, faults }: ChaosOptions, { violations, journals }: ChaosReport): string {
  const said = violations.map(({ invariant, what, run }) => `VIOLATED ${invariant}\n  ${run ?? ""} ${what}\n`);
  const runs = [...new Set(violations.flatMap(({ run }) => (run === undefined ? [] : [run])))];
  const shown = runs.slice(0, JOURNALS).map((run) => journalWords(run, journals.get(run) ?? []));
  const again = `again: npm run chaos -- --seconds ${seconds} --seed ${seed} --faults ${faults.join(",")}\n`;
  return `${said.join("")}${shown.join("")}${again}`;
}

function journalWords(run: string, entries: readonly Entry[]): string {
  const lines = entries.map(({ seq, at, event }) => {
    const { type, ...rest } = event;
    return `  ${seq} ${new Date(at).toISOString().slice(11, 23)} ${type} ${JSON.stringify(rest).slice(0, EVENT_CHARS)}`;
  });
  return `journal of ${run}\n${lines.join("\n")}\n`;
}
