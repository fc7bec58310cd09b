import { useMemo } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS, DELEGATE } from "@vidro/core";
import { readHelpers } from "../brain/helper-list.ts";
import type { HelperRow } from "../brain/helper-list.ts";
import { usePolled } from "../brain/polled.ts";
import type { RunView } from "../brain/run-journal.ts";
import { countOf, translate } from "../words/translate.ts";
import { Link } from "./route.tsx";
import { Line } from "./text.tsx";
import { shortId, statusWords, tookWords } from "./words.ts";

/** The run that a run helps or was forked from, and the runs that help it. */
export function RunTree({ run }: { readonly run: RunView }): ReactNode {
  const { items, actions } = run.conversation;
  // The list of items grows in place; only an action can be one that delegates.
  const hasHelpers = useMemo(
    () => items.some((item) => item.kind === "action" && item.action.tool === DELEGATE),
    [items, actions.size],
  );
  const { parent, forked } = run.state?.started ?? {};
  return (
    <>
      {parent !== undefined && (
        <p className="small">
          <Link to={`/runs/${parent.run}#seq=${parent.seq}`}>
            {translate("It helps the run {id}", { id: shortId(parent.run) })}
          </Link>
        </p>
      )}
      {forked !== undefined && (
        <p className="small">
          <Link to={`/runs/${forked.run}?view=journal#seq=${forked.seq}`}>
            {translate("Forked from the run {id} at entry {n}", { id: shortId(forked.run), n: forked.seq })}
          </Link>
        </p>
      )}
      {hasHelpers && <Helpers run={run.id} isOpen={run.state?.phase.name !== "ended"} />}
    </>
  );
}

function Helpers({ run, isOpen }: { readonly run: string; readonly isOpen: boolean }): ReactNode {
  const everyMs = isOpen ? CONSOLE_LIMITS.pollMs : CONSOLE_LIMITS.catalogMs;
  const { value: rows = [], fault } = usePolled(`helpers-${run}`, () => readHelpers(run), everyMs);
  if (fault !== undefined) return <p className="fault">{fault}</p>;
  if (rows.length === 0) return null;
  return (
    <section className="card helpers" aria-label={translate("Helpers")}>
      <header>
        <b className="grow">{translate("Helpers")}</b>
        <span className="end">{countOf(rows.length, "run")}</span>
      </header>
      <ul>
        {rows.map((row) => (
          <li key={row.run.id} data-depth={row.depth}>
            <HelperLink row={row} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function HelperLink({ row: { run } }: { readonly row: HelperRow }): ReactNode {
  const [word, tone] = statusWords(run);
  return (
    <Link to={`/runs/${run.id}`}>
      <span className={`state ${tone}`}>{word}</span>
      <span className="task">
        <Line text={run.task} chars={200} />
      </span>
      <span className="quiet">{tookWords(run)}</span>
    </Link>
  );
}
