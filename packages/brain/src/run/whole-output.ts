import { Fault, FOLLOW_LIMITS } from "@vidro/core";
import type { Action, Hand, Journal, RunStarted, SpoolPart } from "@vidro/core";
import type { Redactor } from "@vidro/core/redact";

/** Dependencies of whole outputs. */
interface WholeOutputDependencies {
  readonly journal: Pick<Journal, "read">;
  /** The hand that a run works with. */
  readonly hand: (where: Pick<RunStarted, "hand" | "workspace">) => Promise<Hand>;
  readonly redactor: Pick<Redactor, "stream">;
}

/** A whole output, as it is read from the hand. */
interface WholeOutput {
  /** Size of the spool, before secrets are redacted. */
  readonly bytes: number;
  /** Its text in pieces, without secrets; rejects with a Fault when the hand leaves meanwhile. */
  readonly text: AsyncIterable<string>;
}

/** Reads the whole output of an action of a run from the hand that carried it out. */
export type ReadWholeOutput = (run: string, action: string) => Promise<WholeOutput>;

/**
 * Reads whole outputs. A journal keeps the beginning and the end of a long output; the hand keeps all of it for a time.
 * NOT_FOUND when it was not cut or is not kept any more, HAND_UNAVAILABLE while the hand is away.
 */
export function wholeOutputs({ journal, hand: open, redactor }: WholeOutputDependencies): ReadWholeOutput {
  return async (run, id) => {
    const { started, action } = await findSpooled(journal, run, id);
    const hand = await open(started);
    const read = async (from: number): Promise<SpoolPart> => {
      const part = (await hand.readSpool?.(action, from)) ?? new Fault("NOT_FOUND", NO_SPOOLS).report();
      if ("code" in part) throw new Fault(part.code, part.message);
      return part;
    };
    // Before an answer begins, so that a hand that is away is a fault and no empty text.
    const first = await read(0);
    return { bytes: first.bytes, text: redactParts(partsFrom(first, read), redactor) };
  };
}

const NO_SPOOLS = "This hand keeps no whole outputs.";

/** The action with its run's start, when its outcome says that the whole output was spooled. */
async function findSpooled(
  journal: Pick<Journal, "read">,
  run: string,
  id: string,
): Promise<{ readonly started: RunStarted; readonly action: Action }> {
  let [started, action]: [RunStarted | undefined, Action | undefined] = [undefined, undefined];
  for (let after = 0; ; after += FOLLOW_LIMITS.batch) {
    const entries = await journal.read(run, after, FOLLOW_LIMITS.batch);
    for (const { event } of entries) {
      if (event.type === "run.started") started = event;
      if (event.type === "action.started" && event.action.id === id) ({ action } = event);
      if (event.type !== "action.finished" || event.action !== id) continue;
      const { outcome } = event;
      if (started === undefined || action === undefined) continue;
      if (outcome.kind === "process" && outcome.spool !== undefined) return { started, action };
      throw new Fault("NOT_FOUND", `The output of action ${id} is whole in the journal; there is no more of it.`);
    }
    if (entries.length < FOLLOW_LIMITS.batch)
      throw new Fault("NOT_FOUND", `Run ${run} has no action ${id} that has ended.`);
  }
}

async function* partsFrom(first: SpoolPart, read: (from: number) => Promise<SpoolPart>): AsyncGenerator<Buffer> {
  let from = 0;
  for (let part = first; ; part = await read(from)) {
    const bytes = Buffer.from(part.data, "base64");
    if (bytes.length > 0) yield bytes;
    from += bytes.length;
    // The size at the beginning bounds it: a hand cannot go on for ever.
    if (bytes.length === 0 || from >= first.bytes) return;
  }
}

/** Bytes as text without secrets, also where a character or a secret is split over two pieces. */
async function* redactParts(parts: AsyncIterable<Buffer>, redactor: Pick<Redactor, "stream">): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const clean = redactor.stream();
  for await (const bytes of parts) yield clean.push(decoder.decode(bytes, { stream: true }));
  yield clean.push(decoder.decode()) + clean.end();
}
