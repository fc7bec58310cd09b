/** A run as one version of the message that it was started with. */
export interface Edition {
  readonly id: string;
  readonly thread: string;
  readonly startedAt: number;
  /** The run and the entry that it was forked from. */
  readonly forked?: { readonly run: string; readonly seq: number };
}

/** The versions of each message that has several, oldest first, by the run of each. */
export type Editions = ReadonlyMap<string, readonly Edition[]>;

/** The entry at which a fork is another version of a message, and not of what was done about it. */
const FIRST = 1;

/** The versions of messages among some runs. */
export function editionsIn(runs: readonly Edition[]): Editions {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const rootOf = (run: Edition): string => {
    const before = run.forked?.seq === FIRST ? byId.get(run.forked.run) : undefined;
    return before === undefined ? run.id : rootOf(before);
  };
  const groups = Map.groupBy(runs, rootOf);
  return new Map(
    [...groups.values()]
      .filter((group) => group.length > 1)
      .map((group) => group.toSorted((one, other) => one.startedAt - other.startedAt))
      .flatMap((group) => group.map((run) => [run.id, group] as const)),
  );
}
