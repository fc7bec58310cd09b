import type { Audit, Brain, Sealed } from "@vidro/brain";
import { asFault, TERMINAL_LIMITS } from "@vidro/core";
import { countWords } from "@vidro/core/text";
import type { Journal, RunHead } from "@vidro/core";
import { readJournal } from "../brain-api/read-journal.ts";
import { EXIT } from "../program/exit-codes.ts";
import { findRun } from "../brain-api/find-run.ts";
import { paint } from "../view/symbols.ts";
import { readHandKeys, RECEIPT_CAVEAT, ReceiptCount, receiptWords } from "./audit/receipt-count.ts";
import type { ReceiptSum } from "./audit/receipt-count.ts";
import { print, writeJson } from "../program/output.ts";
import { withHomeBrain } from "../brain-api/open-brain-api.ts";

/** Result of an audit. */
interface Sum {
  runs: number;
  entries: number;
  /** Runs whose hash chain is broken. */
  broken: number;
  /** Findings that differ from the seals. */
  altered: number;
}

/** What an audit of the store cannot prove. */
const LIMITS =
  "Not shown: changes by a person who has the key of this home, changes to what is newer than the last seal, and a whole home that was put back to an earlier state.";

/** What an audit of a store without seals cannot prove: the hashes have no key. */
const UNSEALED =
  "This store has no seals. Not shown: runs and records that were deleted, changed records, and runs that were cut off, given to another owner or written anew with fresh hashes.";

/** Flags of `vidro audit verify`. */
interface VerifyFlags {
  readonly json?: boolean;
  /** File with public keys to use instead of those on record. */
  readonly keys?: string;
}

/**
 * Checks the hash chains of one run or of all, the receipts of hands in them, and the seals; prints broken chains,
 * outcomes that differ from what a hand signed, and altered records.
 */
export async function verifyAudit(given: string | undefined, flags: VerifyFlags): Promise<number> {
  return withHomeBrain(async (brain) => {
    const isJson = flags.json === true;
    const count = new ReceiptCount(isJson);
    const check = await receiptCheck(brain, flags.keys, count);
    const sum: Sum = { runs: 0, entries: 0, broken: 0, altered: 0 };
    let last = "";
    for await (const head of auditedRuns(brain, given)) {
      const report = await verifyRun(brain.journal, head);
      sum.runs += 1;
      sum.entries += report.entries;
      if (report.brokenAt !== undefined) sum.broken += 1;
      tellRun(head.id, report, isJson);
      await check(head.id, report.entries).catch((thrown: unknown) => {
        // A batch reaches beyond the last sound entry; what is unreadable there was reported as broken already.
        if (report.brokenAt === undefined) throw thrown;
      });
      last = head.id;
    }
    const sealed = checkedSeals(brain.audit, (finding) => {
      if (given !== undefined && !finding.includes(last)) return;
      sum.altered += 1;
      if (isJson) writeJson({ ok: false, altered: finding });
      else print(`${paint("red", "altered")} ${finding}`);
    });
    const ok = sum.broken === 0 && sum.altered === 0 && count.sum.unsigned === 0;
    const isSealed = brain.audit !== undefined;
    if (isJson) writeJson({ ok, ...sum, ...count.sum, sealed: isSealed, ...(sealed && sealedFields(sealed)) });
    else print(...wordsOf(sum, count.sum, sealed), ...(isSealed ? [] : [UNSEALED]));
    return ok ? EXIT.ok : EXIT.failed;
  });
}

/** Checks the outcomes of a run, up to its last sound entry, against the receipts of its hands. */
async function receiptCheck(brain: Brain, file: string | undefined, count: ReceiptCount) {
  const { checkReceipt, keysByHand, OutcomeReader, ReceiptKeys } = await import("@vidro/brain/home");
  const keys = file === undefined ? keysByHand(await new ReceiptKeys(brain.records).all()) : await readHandKeys(file);
  return async (run: string, last: number): Promise<void> => {
    const outcomes = new OutcomeReader(run);
    for await (const entry of readJournal(brain.journal, run, last)) {
      const outcome = outcomes.read(entry);
      if (outcome !== undefined) count.take(outcome, checkReceipt(outcome, keys));
    }
  };
}

function wordsOf(sum: Sum, receipts: ReceiptSum, sealed: Sealed | undefined): readonly string[] {
  const isSigned = receipts.receipts + receipts.missing + receipts.unsigned > 0;
  return [
    sumWords(sum, receipts),
    ...(isSigned ? [receiptWords(receipts)] : []),
    ...(sealed ? [sealedWords(sealed), LIMITS] : []),
    ...(isSigned ? [RECEIPT_CAVEAT] : []),
  ];
}

/** The given run, or every run, newest first. */
export async function* auditedRuns(brain: Brain, given: string | undefined): AsyncGenerator<RunHead, void, undefined> {
  if (given !== undefined) return yield await findRun(brain.runs, given);
  for (let after: string | undefined; ;) {
    const page = await brain.runs.list({
      limit: TERMINAL_LIMITS.auditedRuns,
      ...(after === undefined ? {} : { after }),
    });
    yield* page;
    after = page.at(-1)?.id;
    if (after === undefined || page.length < TERMINAL_LIMITS.auditedRuns) return;
  }
}

type Report = Awaited<ReturnType<Journal["verify"]>>;

/** Checks one run; a run whose id cannot be read has no sound entry. */
async function verifyRun(journal: Journal, { id, damaged }: RunHead): Promise<Report> {
  try {
    return await journal.verify(id);
  } catch (thrown) {
    const reason = damaged ?? asFault(thrown).message;
    return { entries: 0, brokenAt: 1, reason };
  }
}

function tellRun(id: string, { entries, brokenAt, reason = "the chain is broken" }: Report, isJson: boolean): void {
  if (isJson)
    writeJson({ run_id: id, ok: brokenAt === undefined, entries, ...(brokenAt && { broken_at: brokenAt, reason }) });
  else if (brokenAt !== undefined) print(`${paint("red", "broken")} ${id} at entry ${brokenAt}: ${reason}`);
}

/** Checks the seals; seals that cannot be read are a finding, too. */
function checkedSeals(audit: Audit | undefined, tell: (finding: string) => void): Sealed | undefined {
  try {
    return audit?.check(tell);
  } catch (thrown) {
    tell(`the seals cannot be checked: ${asFault(thrown).message}`);
    return undefined;
  }
}

function sumWords({ runs, entries, broken, altered }: Sum, { unsigned }: ReceiptSum): string {
  const checked = `${countWords(runs, "run")} checked`;
  if (broken === 0 && altered === 0 && unsigned === 0)
    return `${paint("green", "ok")} ${checked}, every hash chain is whole (${countWords(entries, "link")}).`;
  const found = [
    ...(broken === 0 ? [] : [`${broken} broken: what follows a break cannot be trusted`]),
    ...(altered === 0 ? [] : [`${countWords(altered, "thing")} not as sealed`]),
    ...(unsigned === 0 ? [] : [`${countWords(unsigned, "outcome")} not as signed`]),
  ];
  return `${paint("red", "fail")} ${checked}, ${found.join("; ")}.`;
}

function sealedWords({ seals, key, at, unsealedEntries, unsealedRecords }: Sealed): string {
  const newer = `${countWords(unsealedEntries, "link")} and ${countWords(unsealedRecords, "record")} newer than the last`;
  const when = at === undefined ? "" : `, the last of ${new Date(at).toISOString()}`;
  return `${countWords(seals, "seal")}${when}, key SHA-256 ${key}; ${newer}.`;
}

function sealedFields({ seals, key, at, unsealedEntries, unsealedRecords }: Sealed): object {
  return {
    seals,
    key_sha256: key,
    ...(at === undefined ? {} : { sealed_at: new Date(at).toISOString() }),
    unsealed_entries: unsealedEntries,
    unsealed_records: unsealedRecords,
  };
}
