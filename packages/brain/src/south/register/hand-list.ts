import type { HandRow } from "@vidro/core";
import { Fault, REGISTER_LIMITS } from "@vidro/core";
import { nearest } from "@vidro/core/text";

/** The hand of that id, else of that name; NOT_FOUND when there is none, CONFLICT when several have the name. */
export function findHand(rows: readonly HandRow[], named: string): HandRow {
  const byId = rows.find((row) => row.id === named);
  if (byId !== undefined) return byId;
  const called = rows.filter((row) => row.name === named);
  // A host that was revoked and invited again has two rows of its name; the one that is not revoked is meant [F30].
  const good = called.filter((row) => row.barred !== "revoked");
  const [row, ...others] = good.length > 0 ? good : called;
  if (row === undefined)
    throw new Fault("NOT_FOUND", `There is no hand ${JSON.stringify(named)}.${guess(rows, named)}`);
  if (others.length === 0) return row;
  const ids = [row, ...others].slice(0, REGISTER_LIMITS.namedAtMost).map(({ id }) => id);
  throw new Fault("CONFLICT", `Several hands are called ${JSON.stringify(named)}; give an id: ${ids.join(", ")}.`);
}

function guess(rows: readonly HandRow[], named: string): string {
  const near = nearest(
    named,
    rows.map(({ name }) => name),
  );
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

/**
 * The hands behind a selector: a hand's id or name, `tag:web`, `tool:shell`, or several of these with commas. A tag or
 * a tool selects the hands that are ready now, and never the brain's own machine, which has to be named.
 */
export function selectHands(rows: readonly HandRow[], selector: string): readonly HandRow[] {
  const chosen = new Map<string, HandRow>();
  for (const word of selector.split(",").map((part) => part.trim())) {
    for (const row of rowsMatching(rows, word)) chosen.set(row.id, row);
  }
  if (chosen.size > REGISTER_LIMITS.perRun)
    throw new Fault(
      "BAD_REQUEST",
      `${selector} means ${chosen.size} hands; a run has at most ${REGISTER_LIMITS.perRun}.`,
    );
  // The brain's own machine comes first: a run takes its folder from its first hand, and only this one needs it.
  return [...chosen.values()].sort((one, other) => Number(isOwn(other)) - Number(isOwn(one)));
}

function rowsMatching(rows: readonly HandRow[], word: string): readonly HandRow[] {
  if (word === "")
    throw new Fault("BAD_REQUEST", "A hand is meant by its id, its name, tag:NAME or tool:NAME; commas lie between.");
  const [, kind, value = ""] = /^(tag|tool):(.+)$/.exec(word) ?? [];
  if (kind === undefined) return [usable(findHand(rows, word))];
  const having = rows.filter(
    (row) => !isOwn(row) && (kind === "tag" ? row.tags.includes(value) : row.tools.some((tool) => tool.name === value)),
  );
  const ready = having.filter((row) => row.state === "ok");
  if (ready.length > 0) return ready;
  if (having.length === 0) throw new Fault("NOT_FOUND", `${word} finds nothing: no hand has it.`);
  throw new Fault("HAND_UNAVAILABLE", `${word} finds nothing: none of its hands is ready.`);
}

/** Refuses a barred hand, on which a run would fail at its first action; one that is away is waited for. */
function usable(row: HandRow): HandRow {
  if (row.barred === "revoked") throw new Fault("HAND_REVOKED", `The hand ${row.name} was revoked.`);
  if (row.barred === "quarantined")
    throw new Fault("HAND_QUARANTINED", `The hand ${row.name} is in quarantine and gets no new work.`);
  return row;
}

function isOwn({ gateway }: HandRow): boolean {
  return gateway === "local";
}
