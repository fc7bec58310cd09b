import type { ActionFailed, ActionFinished, ActionUnknown } from "./event.ts";
import { canonicalJson } from "./json.ts";
import type { Json } from "./json.ts";
import type { ActionEnd, Receipt } from "./tool.ts";

/*
 * What a hand signs of an outcome. The facts survive the removal of secrets, since they are numbers, codes and hashes of
 * what came out; the words do not, so that they have a digest of their own.
 */

/** What is signed: no other text that a hand signs begins like this. */
export function receiptText(receipt: Omit<Receipt, "signature">): string {
  const { run, action, plan, outcome, words, at, ledger, key } = receipt;
  return JSON.stringify(["vidro-receipt-1", run, action, plan, outcome, words, at, ledger, key]);
}

/** The facts of an end, in the text that `outcome` of a receipt is the SHA-256 of. */
export function endFacts(ended: ActionEnd): string {
  if (ended.type !== "finished") return canonicalJson({ type: ended.type, code: ended.fault.code });
  const { outcome } = ended;
  if (outcome.kind === "value") return canonicalJson({ type: "finished", kind: "value" });
  const { exitCode, signal, timedOut, durationMs, stdout, stderr } = outcome;
  const streams = [stdout, stderr].map(({ bytes, sha256 }) => ({ bytes, sha256 }));
  return canonicalJson({ type: "finished", kind: "process", exitCode, signal, timedOut, durationMs, streams });
}

/** The words of an end, in the text that `words` of a receipt is the SHA-256 of. */
export function endWords(ended: ActionEnd): string {
  if (ended.type === "failed") return canonicalJson([ended.fault.message]);
  if (ended.type === "unknown") return canonicalJson([ended.fault.message, ended.partial ?? null]);
  const { outcome } = ended;
  const said: Json =
    outcome.kind === "value" ? [outcome.text, outcome.data ?? null] : [outcome.stdout.text, outcome.stderr.text];
  return canonicalJson(said);
}

/** The end that an entry says an action had. */
export function endOfEvent(event: ActionFinished | ActionFailed | ActionUnknown): ActionEnd {
  if (event.type === "action.finished") return { type: "finished", outcome: event.outcome };
  if (event.type === "action.failed") return { type: "failed", fault: event.fault };
  const { fault, partial } = event;
  return { type: "unknown", fault, ...(partial === undefined ? {} : { partial }) };
}
