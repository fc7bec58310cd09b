import { asFault, Fault } from "@vidro/core";
import { readJournal } from "../../brain-api/read-journal.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { readHandKeys, readJsonLines, RECEIPT_CAVEAT, ReceiptCount, receiptWords } from "./receipt-count.ts";
import { waitForReader, print, say, writeJson } from "../../program/output.ts";
import { withHomeBrain } from "../../brain-api/open-brain-api.ts";
import { auditedRuns } from "../audit.ts";

/** Prints the outcomes that hands have signed, one in each line, with what is needed to check them elsewhere. */
export async function exportReceipts(given: string | undefined): Promise<number> {
  const { OutcomeReader } = await import("@vidro/brain/home");
  return withHomeBrain(async (brain) => {
    let code: number = EXIT.ok;
    const write = async (run: string): Promise<void> => {
      const outcomes = new OutcomeReader(run);
      for await (const entry of readJournal(brain.journal, run)) {
        const outcome = outcomes.read(entry);
        if (outcome?.event.receipt === undefined) continue;
        writeJson(outcome);
        await waitForReader();
      }
    };
    for await (const { id } of auditedRuns(brain, given))
      await write(id).catch((thrown: unknown) => {
        say(`${id} cannot be read to its end: ${asFault(thrown).message}`);
        code = EXIT.failed;
      });
    return code;
  });
}

/** Prints the public keys of hands, one in each line. */
export async function printHandKeys(): Promise<number> {
  const { ReceiptKeys } = await import("@vidro/brain/home");
  return withHomeBrain(async (brain) => {
    for (const key of await new ReceiptKeys(brain.records).all()) writeJson(key);
    return EXIT.ok;
  });
}

/** Checks exported outcomes with nothing but the public keys of the hands. */
export async function checkExported(
  file: string,
  flags: { readonly keys: string; readonly json?: boolean },
): Promise<number> {
  const { checkReceipt, outcomeIn } = await import("@vidro/brain/home");
  const known = await readHandKeys(flags.keys);
  const isJson = flags.json === true;
  const count = new ReceiptCount(isJson);
  for (const [at, line] of (await readJsonLines(file)).entries()) {
    const outcome = outcomeIn(line);
    if (outcome === undefined) throw new Fault("BAD_REQUEST", `Line ${at + 1} of ${file} is no outcome of an action.`);
    count.take(outcome, checkReceipt(outcome, known));
  }
  const ok = count.sum.unsigned === 0;
  if (isJson) writeJson({ ok, ...count.sum });
  else print(receiptWords(count.sum), RECEIPT_CAVEAT);
  return ok ? EXIT.ok : EXIT.failed;
}
