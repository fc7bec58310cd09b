import type { Entry } from "@vidro/core";
import { actionWords } from "@vidro/core/text";

/* The timeline view: the journal folded into spans of time, each on a row. */

/** The kinds of work that spans of time are spent on. */
export type SpanKind = "model" | "hand" | "person" | "healing";

/** One span of time; without an end it is still open. */
export interface Span {
  readonly kind: SpanKind;
  readonly seq: number;
  /** What the hand does; empty for the other kinds. */
  readonly label: string;
  /** Which step of the model, unless it sums up the conversation. */
  readonly step?: number;
  readonly attempt?: number;
  readonly from: number;
  readonly to?: number;
  readonly isBad?: true;
}

/** The spans of a run so far. */
export interface Timeline {
  readonly spans: readonly Span[];
  readonly from: number;
  readonly to: number;
  /** Index of the open span. */
  readonly open: number | undefined;
  readonly step: number;
}

/** The timeline of a journal without entries. */
export const NO_SPANS: Timeline = { spans: [], from: 0, to: 0, open: undefined, step: 0 };

/** The timeline after one more entry; the list grows in place. */
export function foldTimeline(before: Timeline, { seq, at, event }: Entry): Timeline {
  const now = { ...before, to: at };
  switch (event.type) {
    case "run.started":
      return { spans: [], from: at, to: at, open: undefined, step: 0 };
    case "model.called": {
      if (event.summary === true) return open(now, { kind: "model", seq, label: "", from: at });
      const step = event.attempt === 1 ? before.step + 1 : before.step;
      return { ...open(now, { kind: "model", seq, label: "", step, attempt: event.attempt, from: at }), step };
    }
    case "action.started":
      return open(now, { kind: "hand", seq, label: actionWords(event.action, LABEL_CHARS), from: at });
    case "question.asked":
      return open(now, { kind: "person", seq, label: "", from: at });
    case "model.replied":
    case "context.compacted":
    case "question.answered":
    case "action.finished":
      return close(now, at);
    case "model.failed":
    case "action.failed":
    case "action.unknown":
      return close(now, at, true);
    case "heal.tried":
      return event.delayMs === 0
        ? now
        : push(now, { kind: "healing", seq, label: "", from: at, to: at + event.delayMs });
    case "run.finished":
    case "run.failed":
    case "run.aborted":
      return close(now, at);
    default:
      return now;
  }
}

const LABEL_CHARS = 60;

/** Spans that stand on one row: a step of the model with its failed attempts and the waits between them, or one span. */
export interface SpanRow {
  readonly first: Span;
  readonly last: Span;
  readonly spans: readonly Span[];
}

/** The rows of a timeline, in order. */
export function rowsOf(spans: readonly Span[]): readonly SpanRow[] {
  const rows: SpanRow[] = [];
  for (const span of spans) {
    const row = rows.at(-1);
    if (row !== undefined && isSameTry(row.last, span))
      rows[rows.length - 1] = { ...row, last: span, spans: [...row.spans, span] };
    else rows.push({ first: span, last: span, spans: [span] });
  }
  return rows;
}

/** Whether a span goes on with what the span before it failed at. */
function isSameTry(before: Span, span: Span): boolean {
  if (span.kind === "healing") return before.isBad === true;
  const isAgain = span.kind === "model" && (span.attempt ?? 1) > 1;
  return isAgain && (before.kind === "healing" || (before.kind === "model" && before.isBad === true));
}

/** How the time of a run divides, in milliseconds for each kind. */
export function timeSpent({ spans, to }: Timeline): { readonly [kind in SpanKind]: number } {
  const spent = { model: 0, hand: 0, person: 0, healing: 0 };
  for (const span of spans) spent[span.kind] += Math.max(0, (span.to ?? to) - span.from);
  return spent;
}

function push(timeline: Timeline, span: Span): Timeline {
  (timeline.spans as Span[]).push(span);
  return timeline;
}

function open(timeline: Timeline, span: Span): Timeline {
  return { ...push(close(timeline, span.from), span), open: timeline.spans.length - 1 };
}

function close(timeline: Timeline, to: number, isBad = false): Timeline {
  const { spans, open: index } = timeline;
  const span = index === undefined ? undefined : spans[index];
  if (index === undefined || span === undefined) return timeline;
  (spans as Span[])[index] = { ...span, to, ...(isBad ? { isBad: true } : {}) };
  return { ...timeline, open: undefined };
}
