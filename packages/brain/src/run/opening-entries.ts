import { decide, reduce } from "@vidro/core/run";
import { redactParts } from "@vidro/core";
import type { Entry, Event, FilePart, Json, RunStarted, Turn } from "@vidro/core";
import type { Redactor } from "@vidro/core/redact";
import type { Moment, RunState } from "@vidro/core/run";
import type { RunDependencies } from "./run-dependencies.ts";

/**
 * The first entries of a run and the state after them: what `decide` records from the start alone shares its commit.
 */
export function openingEntries(
  run: string,
  started: RunStarted,
  deps: Pick<RunDependencies, "now" | "chance" | "generation" | "redactor"> & Pick<Moment, "shared">,
): { readonly entries: readonly Entry[]; readonly state: RunState } {
  const { redactor } = deps;
  const at = deps.now();
  const entries: Entry[] = [{ seq: 1, at, event: redactEvent(started, redactor) }];
  let state = reduce(undefined, entries[0]!);
  for (;;) {
    const decision = decide(state, { ...momentIn(run, deps), now: at, shared: deps.shared ?? [] });
    if (decision.do !== "record") return { entries, state };
    const entry = { seq: state.seq + 1, at, event: redactEvent(decision.event, redactor) };
    state = reduce(state, entry);
    entries.push(entry);
  }
}

/** The moment for a decision about a run: time, chance and generation. */
export function momentIn(
  run: string,
  { now, chance, generation }: Pick<RunDependencies, "now" | "chance" | "generation">,
): Moment {
  return { run, now: now(), chance: chance(), ...(generation === undefined ? {} : { generation }) };
}

/** An event with secrets redacted; only texts are replaced, so it keeps its shape, and opaque data is never altered. */
export function redactEvent<Kind extends Event>(event: Kind, redactor: Redactor): Kind {
  const redact = <T>(value: T): T => redactor.value(value as Json) as T;
  if (event.type === "run.started") {
    const { history, forked, files, ...words } = event;
    const turnsOf = (turns: readonly Turn[]): readonly Turn[] => turns.map((turn) => redactTurn(turn, redact));
    const from = forked === undefined ? {} : { forked: { ...redact(forked), turns: turnsOf(forked.turns) } };
    const kept = files === undefined ? {} : { files: redactFiles(files, redact) };
    return { ...redact(words), history: turnsOf(history), ...from, ...kept } as unknown as Kind;
  }
  if (event.type === "action.finished" && event.outcome.kind === "value" && event.outcome.files !== undefined) {
    const { files, ...outcome } = event.outcome;
    const bare = redact({ ...event, outcome });
    return { ...bare, outcome: { ...bare.outcome, files: redactFiles(files, redact) } } as unknown as Kind;
  }
  if (event.type !== "model.replied" || event.parts === undefined) return redact(event);
  const { parts, ...words } = event;
  return { ...redact(words), parts: redactParts(parts, redact) } as Kind;
}

function redactTurn(turn: Turn, redact: <T>(value: T) => T): Turn {
  if (turn.role !== "assistant" && turn.files !== undefined) {
    const { files, ...words } = turn;
    return { ...redact(words), files: redactFiles(files, redact) };
  }
  if (turn.role !== "assistant" || turn.parts === undefined) return redact(turn);
  const { parts, ...words } = turn;
  return { ...redact(words), parts: redactParts(parts, redact) };
}

/** The bytes of a file are opaque; its name is text like any other. */
function redactFiles(files: readonly FilePart[], redact: <T>(value: T) => T): readonly FilePart[] {
  return files.map((file) => (file.name === undefined ? file : { ...file, name: redact(file.name) }));
}
