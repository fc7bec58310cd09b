import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { Choice } from "../parts/choice.tsx";
import { RunList } from "../parts/run-list.tsx";
import { useTitle } from "../parts/title.ts";
import { statusWords } from "../parts/words.ts";
import { countOf, translate } from "../words/translate.ts";

const STATES = ["running", "asking", "finished", "failed", "aborted"] as const;

/** All runs, newest first. */
export function RunsPage(): ReactNode {
  useTitle(translate("Runs"));
  const { value: runs, fault } = usePolled("runs", () => vidro.list({ limit: CONSOLE_LIMITS.runs }));
  const [words, setWords] = useState("");
  const [state, setState] = useState("");
  const [owner, setOwner] = useState("");
  const owners = [...new Set((runs ?? []).map((run) => run.owner))].sort();
  const shown = (runs ?? []).filter((run) => fits(run, { words, state, owner }));
  const states = STATES.map((name) => [name, statusWords({ status: name })[0]] as const);
  return (
    <>
      <h1>{translate("Runs")}</h1>
      <div className="filters">
        <label className="filter">
          <span>{translate("Filter")}</span>
          <input type="search" data-filter="" value={words} onChange={({ target }) => setWords(target.value)} />
        </label>
        <label className="filter">
          <span>{translate("State")}</span>
          <Choice label={translate("State")} first={translate("all")} others={states} value={state} choose={setState} />
        </label>
        {owners.length > 1 && (
          <label className="filter">
            <span>{translate("Owner")}</span>
            <Choice
              label={translate("Owner")}
              first={translate("all")}
              others={owners.map((name) => [name, name] as const)}
              value={owner}
              choose={setOwner}
            />
          </label>
        )}
        {runs !== undefined && <span className="filter">{countOf(shown.length, "run")}</span>}
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {runs === undefined && fault === undefined && <p className="quiet">{translate("Reading the list…")}</p>}
      {runs !== undefined && shown.length === 0 && (
        <p className="empty">
          {runs.length === 0
            ? translate("There are no runs yet. Say on Home or in Chat what should be done.")
            : translate("No run matches.")}
        </p>
      )}
      {shown.length > 0 && <RunList runs={shown} />}
    </>
  );
}

function fits(
  run: RunHead,
  asked: { readonly words: string; readonly state: string; readonly owner: string },
): boolean {
  const text = `${run.task} ${run.id} ${run.owner}`.toLowerCase();
  const isOfState = asked.state === "" || run.status === asked.state;
  return (
    isOfState && (asked.owner === "" || run.owner === asked.owner) && text.includes(asked.words.trim().toLowerCase())
  );
}
