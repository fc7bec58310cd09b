import { useMemo, useState } from "react";
import type { ReactNode } from "react";
import { useHandNames } from "../brain/hand-names.tsx";
import { readRuns } from "../brain/listed-runs.ts";
import type { ListedRun } from "../brain/listed-runs.ts";
import { usePolled } from "../brain/polled.ts";
import { Choice } from "../parts/choice.tsx";
import { RunList } from "../parts/run-list.tsx";
import { useTitle } from "../parts/title.ts";
import { statusWords } from "../parts/words.ts";
import { countOf, translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";

const STATES = ["running", "asking", "finished", "failed", "aborted"] as const;

/** What runs are chosen by; an empty text stands for all. */
interface RunFilter {
  readonly words: string;
  readonly status: string;
  readonly agent: string;
  readonly hand: string;
  readonly owner: string;
}

const ALL: RunFilter = { words: "", status: "", agent: "", hand: "", owner: "" };
const FIELDS: readonly (readonly [field: "agent" | "hand" | "owner", label: Phrase])[] = [
  ["agent", "Agent"],
  ["hand", "Hand"],
  ["owner", "Owner"],
];

/** All runs, newest first. */
export function RunsPage(): ReactNode {
  useTitle(translate("Runs"));
  const { value, fault, refresh } = usePolled("runs", readRuns);
  const nameOf = useHandNames();
  const runs = useMemo(
    () => value?.map((run) => (run.hand === undefined ? run : { ...run, hand: nameOf(run.hand) })),
    [value, nameOf],
  );
  const [filter, setFilter] = useState(ALL);
  const shown = (runs ?? []).filter((run) => fits(run, filter));
  return (
    <>
      <h1>{translate("Runs")}</h1>
      <Filters runs={runs ?? []} filter={filter} change={setFilter}>
        {runs !== undefined && <span className="filter">{countOf(shown.length, "run")}</span>}
      </Filters>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {runs === undefined && fault === undefined && <p className="quiet">{translate("Reading the list…")}</p>}
      {runs !== undefined && shown.length === 0 && (
        <p className="empty">
          {runs.length === 0
            ? translate("There are no runs yet. Say on Home or in Chat what should be done.")
            : translate("No run matches.")}
        </p>
      )}
      {shown.length > 0 && <RunList runs={shown} stopped={refresh} />}
    </>
  );
}

function Filters(props: {
  readonly runs: readonly ListedRun[];
  readonly filter: RunFilter;
  readonly change: (filter: RunFilter) => void;
  readonly children: ReactNode;
}): ReactNode {
  const { runs, filter, change, children } = props;
  const states = STATES.map((name) => [name, statusWords({ status: name })[0]] as const);
  return (
    <div className="filters">
      <label className="filter">
        <span>{translate("Filter")}</span>
        <input
          type="search"
          data-filter=""
          value={filter.words}
          onChange={({ target }) => change({ ...filter, words: target.value })}
        />
      </label>
      <FilterChoice
        label={translate("State")}
        values={states}
        value={filter.status}
        choose={(status) => change({ ...filter, status })}
      />
      {FIELDS.map(([field, label]) => (
        <FilterChoice
          key={field}
          label={translate(label)}
          values={valuesOf(runs, field)}
          value={filter[field]}
          choose={(value) => change({ ...filter, [field]: value })}
        />
      ))}
      {children}
    </div>
  );
}

/** A choice among values; nothing where all runs have the same one. */
function FilterChoice(props: {
  readonly label: string;
  readonly values: readonly (readonly [value: string, name: string])[];
  readonly value: string;
  readonly choose: (value: string) => void;
}): ReactNode {
  const { label, values, value, choose } = props;
  if (values.length < 2) return null;
  return (
    <label className="filter">
      <span>{label}</span>
      <Choice label={label} first={translate("all")} others={values} value={value} choose={choose} />
    </label>
  );
}

function valuesOf(
  runs: readonly ListedRun[],
  field: "agent" | "hand" | "owner",
): readonly (readonly [value: string, name: string])[] {
  const all = new Set(runs.flatMap((run) => run[field] ?? []));
  return [...all].sort().map((value) => [value, value] as const);
}

function fits(run: ListedRun, filter: RunFilter): boolean {
  const { words, ...rest } = filter;
  const text = `${run.task} ${run.id} ${run.owner} ${run.agent ?? ""} ${run.hand ?? ""}`.toLowerCase();
  const isOfAll = Object.entries(rest).every(
    ([field, value]) => value === "" || run[field as keyof typeof rest] === value,
  );
  return isOfAll && text.includes(words.trim().toLowerCase());
}
