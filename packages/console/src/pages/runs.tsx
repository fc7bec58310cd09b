import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { Link } from "../parts/route.tsx";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { agoWords, clockWords, shortId, statusWords, tookWords } from "../parts/words.ts";

const STATES = ["all", "running", "asking", "finished", "failed", "aborted"] as const;

/** All runs, newest first. */
export function RunsPage(): ReactNode {
  useTitle("Runs");
  const { value: runs, fault } = usePolled("runs", () => vidro.list({ limit: CONSOLE_LIMITS.runs }));
  const [words, setWords] = useState("");
  const [state, setState] = useState<(typeof STATES)[number]>("all");
  const filter = words.trim().toLowerCase();
  const shown = (runs ?? []).filter(
    (run) =>
      (state === "all" || run.status === state) && `${run.task} ${run.id} ${run.owner}`.toLowerCase().includes(filter),
  );
  return (
    <>
      <h1>Runs</h1>
      <div className="filters">
        <label className="filter">
          <span>Filter</span>
          <input type="search" data-filter="" value={words} onChange={({ target }) => setWords(target.value)} />
        </label>
        <label className="filter">
          <span>State</span>
          <select
            value={state}
            onChange={({ target }) => setState(STATES.find((name) => name === target.value) ?? "all")}
          >
            {STATES.map((name) => (
              <option key={name} value={name}>
                {name === "all" ? "all" : statusWords({ status: name })[0]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {runs === undefined && fault === undefined && <p className="quiet">Reading the list…</p>}
      {runs !== undefined && shown.length === 0 && (
        <p className="empty">
          {runs.length === 0 ? "There are no runs yet. Say on Home or in Chat what should be done." : "No run matches."}
        </p>
      )}
      {shown.length > 0 && <RunList runs={shown} />}
    </>
  );
}

/** Runs as rows, each a link. */
export function RunList({ runs }: { readonly runs: readonly RunHead[] }): ReactNode {
  return (
    <section className="card list">
      <VirtualList items={runs} guessPx={42} keyOf={keyOf} draw={drawRun} label="Runs" />
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
