import { useCallback } from "react";
import type { ReactNode } from "react";
import { spanWords } from "@vidro/core/text";
import { rowsOf, timeSpent } from "../run/timeline.ts";
import type { Span, SpanKind, SpanRow, Timeline } from "../run/timeline.ts";
import { translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { Link } from "./route.tsx";
import { VirtualList } from "./virtual-list.tsx";

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Where the time of a run went: a bar for each call of the model, action and wait. */
export function TimelineView({ run, timeline }: { readonly run: string; readonly timeline: Timeline }): ReactNode {
  const { spans, from, to } = timeline;
  const whole = Math.max(1, to - from);
  const rows = rowsOf(spans);
  const draw = useCallback(
    (row: SpanRow) => <Lane run={run} row={row} from={from} whole={whole} end={to} />,
    [run, from, whole, to],
  );
  return (
    <>
      <section className="card lanes" aria-label={translate("Timeline")}>
        <div className="lane quiet" aria-hidden="true">
          <span />
          <span className="ticks">
            {TICKS.map((part) => (
              <span key={part}>{spanWords(whole * part)}</span>
            ))}
          </span>
          <span />
        </div>
        <VirtualList items={rows} guessPx={28} keyOf={keyOf} draw={draw} label={translate("Spans of time")} />
      </section>
      <Spent timeline={timeline} />
    </>
  );
}

function keyOf({ first }: SpanRow): string {
  return `${first.kind}-${first.seq}`;
}

function Lane(props: {
  readonly run: string;
  readonly row: SpanRow;
  readonly from: number;
  readonly whole: number;
  readonly end: number;
}): ReactNode {
  const { run, row, from, whole, end } = props;
  const { first, last, spans } = row;
  const named = spans.findLast(({ kind }) => kind === first.kind) ?? first;
  return (
    <div className="lane">
      <Link to={`/runs/${run}?view=journal#seq=${first.seq}`} className="lane-name" title={translate("Show its entry")}>
        <bdi>{labelOf(named)}</bdi>
      </Link>
      <span className="track">
        {spans.map((span) => (
          <b
            key={`${span.kind}-${span.seq}`}
            className={span.isBad === true ? `${span.kind} bad` : span.kind}
            style={placeOf(span, { from, whole, end })}
          />
        ))}
      </span>
      <span className="t">
        {spanWords(Math.max(0, (last.to ?? end) - first.from))}
        {last.to === undefined && "…"}
      </span>
    </div>
  );
}

/** Where the bar of a span is on its track. */
function placeOf(
  span: Span,
  { from, whole, end }: { readonly from: number; readonly whole: number; readonly end: number },
): { readonly left: string; readonly width: string } {
  const took = Math.max(0, (span.to ?? end) - span.from);
  return {
    left: `${Math.min(99.5, ((span.from - from) / whole) * 100)}%`,
    width: `${Math.max(0.4, Math.min(100, (took / whole) * 100))}%`,
  };
}

/** What a span is about, in words. */
function labelOf({ kind, label, step, attempt = 1 }: Span): string {
  if (kind === "person") return translate("waits for a person");
  if (kind === "healing") return translate("waits before it tries again");
  if (kind === "hand") return label;
  if (step === undefined) return translate("model · summary");
  return translate("model · step {n}", { n: step }) + (attempt === 1 ? "" : ` ×${attempt}`);
}

const NAMES = {
  person: "person",
  model: "model",
  hand: "hand",
  healing: "healing",
} as const satisfies { readonly [kind in SpanKind]: Phrase };

function Spent({ timeline }: { readonly timeline: Timeline }): ReactNode {
  const spent = timeSpent(timeline);
  const sum = Object.values(spent).reduce((total, ms) => total + ms, 0);
  if (sum === 0) return null;
  const parts = (Object.keys(NAMES) as SpanKind[])
    .filter((kind) => spent[kind] > 0)
    .sort((a, b) => spent[b] - spent[a]);
  return (
    <p className="quiet spent">
      {translate("Where the time went: {parts}. A row leads to its entry.", {
        parts: parts.map((kind) => `${translate(NAMES[kind])} ${Math.round((spent[kind] / sum) * 100)} %`).join(" · "),
      })}
    </p>
  );
}
