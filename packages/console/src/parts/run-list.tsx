import { useCallback } from "react";
import type { ReactNode } from "react";
import type { RunHead } from "@vidro/core";
import { vidro } from "../brain/connection.ts";
import { translate } from "../words/translate.ts";
import { Link } from "./route.tsx";
import { Line } from "./text.tsx";
import { VirtualList } from "./virtual-list.tsx";
import { agoWords, clockWords, shortId, statusWords, tookWords } from "./words.ts";

/** A run in a list, with what it was started with where the list tells it. */
export interface ListedRun extends RunHead {
  readonly agent?: string;
  readonly model?: string;
  readonly hand?: string;
}

/** Runs as rows, each a link; with `stopped`, open ones can be stopped. */
export function RunList({
  runs,
  stopped,
}: {
  readonly runs: readonly ListedRun[];
  readonly stopped?: () => void;
}): ReactNode {
  const draw = useCallback((run: ListedRun) => <RunRow run={run} stopped={stopped} />, [stopped]);
  return (
    <section className="card list">
      <VirtualList items={runs} guessPx={42} keyOf={keyOf} draw={draw} label={translate("Runs")} />
    </section>
  );
}

function keyOf({ id }: RunHead): string {
  return id;
}

function RunRow({ run, stopped }: { readonly run: ListedRun; readonly stopped: (() => void) | undefined }): ReactNode {
  const [word, tone] = statusWords(run);
  const isOpen = run.status === "running" || run.status === "asking";
  return (
    <div className="run-row">
      <Link to={`/runs/${run.id}`} className="item">
        <span className={`state ${tone}`}>{word}</span>
        <span className="task">
          <Line text={run.task} chars={200} />
        </span>
        <span className="quiet meta" title={clockWords(run.startedAt)}>
          {run.agent !== undefined && <Line text={`${run.agent} · ${run.hand ?? ""} · `} chars={60} />}
          {shortId(run.id)} · {agoWords(run.startedAt)}
        </span>
        <span className="t">{tookWords(run)}</span>
      </Link>
      {stopped !== undefined && isOpen && (
        <button
          type="button"
          className="small no"
          onClick={() => void vidro.attach(run.id).abort().then(stopped, stopped)}
        >
          {translate("Stop")}
        </button>
      )}
    </div>
  );
}
