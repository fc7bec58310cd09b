import type { ReactNode } from "react";
import type { RunHead } from "@vidro/core";
import { translate } from "../words/translate.ts";
import { Link } from "./route.tsx";
import { Line } from "./text.tsx";
import { VirtualList } from "./virtual-list.tsx";
import { agoWords, clockWords, shortId, statusWords, tookWords } from "./words.ts";

/** Runs as rows, each a link. */
export function RunList({ runs }: { readonly runs: readonly RunHead[] }): ReactNode {
  return (
    <section className="card list">
      <VirtualList items={runs} guessPx={42} keyOf={keyOf} draw={drawRun} label={translate("Runs")} />
    </section>
  );
}

function keyOf({ id }: RunHead): string {
  return id;
}

function drawRun(run: RunHead): ReactNode {
  const [word, tone] = statusWords(run);
  return (
    <Link to={`/runs/${run.id}`} className="item">
      <span className={`state ${tone}`}>{word}</span>
      <span className="task">
        <Line text={run.task} chars={200} />
      </span>
      <span className="quiet meta" title={clockWords(run.startedAt)}>
        {shortId(run.id)} · {agoWords(run.startedAt)}
      </span>
      <span className="t">{tookWords(run)}</span>
    </Link>
  );
}
