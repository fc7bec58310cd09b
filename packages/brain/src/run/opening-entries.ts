import { decide, FIRST_GENERATION, reduce } from "@vidro/core/run";
import { isPdfPart, redactParts } from "@vidro/core";
import type { Entry, Event, FilePart, Json, Model, RunStarted, Turn } from "@vidro/core";
import type { Redactor } from "@vidro/core/redact";
import type { Moment, RunState } from "@vidro/core/run";
import type { RunDependencies } from "./run-dependencies.ts";

/**
 * The first entries of a run and the state after them: what `decide` records from the start alone shares its commit.
 */
export function openingEntries(
  run: string,
  started: RunStarted,
  deps: Pick<RunDependencies, "now" | "chance" | "generation"> & Pick<Moment, "shared"> & EventRules,
): { readonly entries: readonly Entry[]; readonly state: RunState } {
  const at = deps.now();
  const entries: Entry[] = [{ seq: 1, at, event: keptEvent(started, deps) }];
  let state = reduce(undefined, entries[0]!);
  for (;;) {
    const decision = decide(state, { ...momentIn(run, deps, deps.shared), now: at });
    if (decision.do !== "record") return { entries, state };
    const entry = { seq: state.seq + 1, at, event: keptEvent(decision.event, deps) };
    state = reduce(state, entry);
    entries.push(entry);
  }
}

/** The moment for a decision about a run: time, chance, generation and the bounded costs that it shares. */
export function momentIn(
  run: string,
  { now, chance, generation = FIRST_GENERATION }: Pick<RunDependencies, "now" | "chance" | "generation">,
  shared: Moment["shared"] = NO_COSTS,
): Moment {
  return { run, now: now(), chance: chance(), generation, shared };
}

const NO_COSTS: NonNullable<Moment["shared"]> = [];

/** Rules for what is kept of events: no secrets, and PDFs only where a model takes them. */
interface EventRules {
  readonly redactor: Redactor;
  readonly model: Pick<Model, "name" | "takesPdfs">;
}

/**
 * An event as a journal keeps it, with secrets redacted; only texts are replaced, so it keeps its shape, and opaque data
 * is never altered.
 */
export function keptEvent<Kind extends Event>(event: Kind, { redactor, model }: EventRules): Kind {
  const redact: Redact = (value) => redactor.value(value as Json) as typeof value;
  if (event.type === "run.started") {
    const filesOf = keptFiles(redact, model);
    const { history, forked, files, ...words } = event;
    const turnsOf = (turns: readonly Turn[]): readonly Turn[] => turns.map((turn) => keptTurn(turn, redact, filesOf));
    const from = forked === undefined ? {} : { forked: { ...redact(forked), turns: turnsOf(forked.turns) } };
    return { ...redact(words), history: turnsOf(history), ...from, ...filesOf(event.task, files) } as unknown as Kind;
  }
  if (event.type === "action.finished" && event.outcome.kind === "value" && event.outcome.files !== undefined) {
    const { files, ...outcome } = event.outcome;
    const bare = redact({ ...event, outcome });
    const kept = keptFiles(redact, model)(outcome.text, files);
    return { ...bare, outcome: { ...bare.outcome, ...kept } } as unknown as Kind;
  }
  if (event.type !== "model.replied" || event.parts === undefined) return redact(event);
  const { parts, ...words } = event;
  return { ...redact(words), parts: redactParts(parts, redact) } as Kind;
}

type Redact = <T>(value: T) => T;
type KeptFiles = (words: string, files?: readonly FilePart[]) => { readonly files?: readonly FilePart[] };

/** Files beside words. A PDF whose text has a secret is left out: its bytes cannot be redacted, and the words are. */
function keptFiles(redact: Redact, { takesPdfs }: EventRules["model"]): KeptFiles {
  return (words, files = []) => {
    const isKept = !files.some(isPdfPart) || (takesPdfs === true && redact(words) === words);
    const kept = isKept ? files : files.filter((file) => !isPdfPart(file));
    return kept.length === 0 ? {} : { files: redactFiles(kept, redact) };
  };
}

function keptTurn(turn: Turn, redact: Redact, filesOf: KeptFiles): Turn {
  if (turn.role !== "assistant" && turn.files !== undefined) {
    const { files, ...words } = turn;
    return { ...redact(words), ...filesOf(words.text, files) };
  }
  if (turn.role !== "assistant" || turn.parts === undefined) return redact(turn);
  const { parts, ...words } = turn;
  return { ...redact(words), parts: redactParts(parts, redact) };
}

/** The bytes of a file are opaque; its name is text like any other. */
function redactFiles(files: readonly FilePart[], redact: Redact): readonly FilePart[] {
  return files.map((file) => (file.name === undefined ? file : { ...file, name: redact(file.name) }));
}
