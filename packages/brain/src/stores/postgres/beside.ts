import type { NewRecord } from "@vidro/core";
import { recordText } from "../record-rules.ts";
import type { SqlValue } from "./connection.ts";

/*
 * Records that are made by the statement which writes the entries that they are about, under its condition: both are
 * there, or neither. A record that is there stays as it is, so that a statement may be repeated.
 */

/** A record that is made beside entries of a run. */
interface BesideRecord {
  /** What names the run in the statement. */
  readonly run: string | number;
  readonly record: NewRecord;
}

/** What a statement says of a kind whose records it has changed. */
export interface KindCount {
  readonly kind: string;
  readonly changes: number;
}

/**
 * A part of a statement that makes records; its values are those of `besideValues`, from place `first` on. `counted` has
 * the kinds that it changed.
 */
export function makeRecords(first: number, run: { readonly type: "text" | "bigint"; readonly from: string }): string {
  const places = [`${run.type}[]`, "text[]", "text[]", "text[]", "text[]"];
  return `recorded AS (
      INSERT INTO record (kind, id, owner, body, version, created, updated)
      SELECT made_record.kind, made_record.id, made_record.owner, made_record.body, 1, $${first}::bigint, $${first}::bigint
      FROM unnest(${places.map((type, index) => `$${first + 1 + index}::${type}`).join(", ")})
        WITH ORDINALITY AS made_record (run, kind, id, owner, body, place) JOIN ${run.from}
      ORDER BY made_record.place
      ON CONFLICT DO NOTHING RETURNING kind),
    counted AS (
      INSERT INTO record_change (kind, changes) SELECT kind, count(*) FROM recorded GROUP BY kind ORDER BY kind
      ON CONFLICT (kind) DO UPDATE SET changes = record_change.changes + excluded.changes RETURNING kind, changes)`;
}

/** Values for `makeRecords`. */
export function besideValues(now: number, made: readonly BesideRecord[]): readonly SqlValue[] {
  return [
    now,
    made.map(({ run }) => run),
    made.map(({ record }) => record.kind),
    made.map(({ record }) => record.id),
    made.map(({ record }) => record.owner),
    made.map(({ record }) => recordText(record)),
  ];
}
