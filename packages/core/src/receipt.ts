import type { ActionFailed, ActionFinished, ActionUnknown } from "./event.ts";
import { canonicalJson } from "./json.ts";
import type { Json } from "./json.ts";
import type { ActionEnd, Receipt } from "./tool.ts";

/*
 * The texts that a hand signs. Facts are numbers, codes and hashes, which redaction does not change; words may be
 * redacted, so they have a digest of their own.
 */

/** The signed text. Its prefix is used for no other signature of a hand. */
export function receiptText(receipt: Omit<Receipt, "signature">): string {
  const { run, action, plan, outcome, words, at, ledger, key } = receipt;
  return JSON.stringify(["vidro-receipt-1", run, action, plan, outcome, words, at, ledger, key]);
}

/** The facts of an end; the field `outcome` of a receipt is the SHA-256 of this text. */
export function endFacts(ended: ActionEnd): string {
  if (ended.type !== "finished") return canonicalJson({ type: ended.type, code: ended.fault.code });
  const { outcome } = ended;
  if (outcome.kind === "value") return canonicalJson({ type: "finished", kind: "value" });
  const { exitCode, signal, timedOut, durationMs, stdout, stderr } = outcome;
  const streams = [stdout, stderr].map(({ bytes, sha256 }) => ({ bytes, sha256 }));
  return canonicalJson({ type: "finished", kind: "process", exitCode, signal, timedOut, durationMs, streams });
}

/** The words of an end; the field `words` of a receipt is the SHA-256 of this text. */
export function endWords(ended: ActionEnd): string {
  if (ended.type === "failed") return canonicalJson([ended.fault.message]);
  if (ended.type === "unknown") return canonicalJson([ended.fault.message, ended.partial ?? null]);
  const { outcome } = ended;
  const said: Json =
    outcome.kind === "value" ? [outcome.text, outcome.data ?? null] : [outcome.stdout.text, outcome.stderr.text];
  return canonicalJson(said);
}

/** The end that a journal event records. */
export function endOfEvent(event: ActionFinished | ActionFailed | ActionUnknown): ActionEnd {
  if (event.type === "action.finished") return { type: "finished", outcome: event.outcome };
  if (event.type === "action.failed") return { type: "failed", fault: event.fault };
  const { fault, partial } = event;
  return { type: "unknown", fault, ...(partial === undefined ? {} : { partial }) };
}
