import { resolve } from "node:path";
import { Fault } from "@vidro/core";
import { countWords } from "@vidro/core/text";
import { withHomeBrain } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { say } from "../program/output.ts";

/** What `vidro runs prune` may be told. */
interface PruneFlags {
  readonly olderThan: number;
  readonly export?: string;
  readonly dryRun?: boolean;
}

/** Deletes ended runs of this home that are older than so many days. */
export async function pruneRuns({ olderThan: days, export: folder, dryRun = false }: PruneFlags): Promise<number> {
  return withHomeBrain(async ({ retention, journal }) => {
    if (retention === undefined) throw new Fault("BAD_REQUEST", "This store ends with its process; nothing is kept.");
    const { RunRetention } = await import("@vidro/brain/home");
    const exportTo = folder === undefined ? {} : { exportTo: resolve(folder) };
    const rules = { days, storeMib: 0, ...exportTo };
    const old = new RunRetention({ retention, journal, now: Date.now }, rules);
    const age = `older than ${countWords(days, "day")}`;
    if (dryRun) say(`${countWords(await old.count(), "ended run")} ${age}.`);
    else say(`${countWords(await old.prune(), "ended run")} ${age} deleted.`);
    return EXIT.ok;
  });
}
