import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { HandRecord, HandSample } from "@vidro/client";
import { vidro } from "../brain/connection.ts";
import { readOpenRuns } from "../brain/listed-runs.ts";
import type { ListedRun } from "../brain/listed-runs.ts";
import { usePolled } from "../brain/polled.ts";
import { AddHost } from "../parts/add-host.tsx";
import { HandActions } from "../parts/hand-actions.tsx";
import { HandRuns } from "../parts/hand-runs.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { agoWords, clockWords, healthWords } from "../parts/words.ts";
import { countOf, translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";

/** The hosts that work, how they are, and how to add one. */
export function HandsPage({ isAdmin }: { readonly isAdmin: boolean }): ReactNode {
  useTitle(translate("Hands"));
  const { value: hands, fault, refresh } = usePolled("hands", () => vidro.hands.list());
  const { value: runs = [] } = usePolled("open-runs", readOpenRuns);
  const [isAdding, setAdding] = useState(false);
  const [tag, setTag] = useState("");
  const shown = hands?.filter(({ tags }) => tag === "" || tags.includes(tag));
  const up = hands?.filter(({ state }) => state === "ok").length ?? 0;
  return (
    <>
      <div className="head">
        <div className="grow">
          <h1>{translate("Hands")}</h1>
          <div className="chips">
            <span>
              {hands === undefined
                ? translate("Reading the list…")
                : translate("{n} of {all} connected", { n: up, all: hands.length })}
            </span>
            <TagChoice hands={hands ?? []} tag={tag} choose={setTag} />
          </div>
        </div>
        {isAdmin && (
          <button type="button" className={isAdding ? "" : "do"} onClick={() => setAdding(!isAdding)}>
            {isAdding ? translate("Close") : translate("Add a host")}
          </button>
        )}
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {isAdding && <AddHost hands={hands ?? []} />}
      {hands?.length === 0 && <p className="empty">{translate("No host works for this brain yet: add one.")}</p>}
      <div className="tiles">
        {shown?.map((hand) => (
          <HandTile key={hand.id} hand={hand} runs={runs} isAdmin={isAdmin} changed={refresh} />
        ))}
      </div>
    </>
  );
}

/** The tags of the hands with how many have each; pressing one shows only those, pressing it again shows all. */
function TagChoice(props: {
  readonly hands: readonly HandRecord[];
  readonly tag: string;
  readonly choose: (tag: string) => void;
}): ReactNode {
  const { hands, tag, choose } = props;
  const counts = new Map<string, number>();
  for (const { tags } of hands) for (const one of tags) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => (
      <button
        key={name}
        type="button"
        className="tag"
        aria-pressed={name === tag}
        onClick={() => choose(name === tag ? "" : name)}
      >
        <Line text={name} chars={40} /> {count}
      </button>
    ));
}

function HandTile(props: {
  readonly hand: HandRecord;
  readonly runs: readonly ListedRun[];
  readonly isAdmin: boolean;
  readonly changed: () => void;
}): ReactNode {
  const { hand, runs, isAdmin, changed } = props;
  const { value: samples = [] } = usePolled(
    `telemetry-${hand.id}`,
    () => vidro.hands.telemetry(hand.id, { seconds: CONSOLE_LIMITS.telemetryS }),
    CONSOLE_LIMITS.telemetryMs,
  );
  return (
    <section className="card tile" aria-label={hand.name.slice(0, 80)}>
      <div className="name">
        <Line text={hand.name} chars={60} /> <State hand={hand} />
      </div>
      {samples.length > 0 && (
        <Sparkline
          values={samples.map((sample) => numberIn(sample, "cpu"))}
          label={translate("CPU in the last five minutes")}
        />
      )}
      <Load samples={samples} />
      <div className="k">
        <span>
          <Line text={hand.gateway} /> ·{" "}
          <TranslatedText phrase="version {version}" values={{ version: <Line text={hand.version} chars={20} /> }} />
        </span>
        <span title={clockWords(hand.lastSeenAt)}>{translate("seen {ago}", { ago: agoWords(hand.lastSeenAt) })}</span>
      </div>
      {hand.why !== null && (
        <p className="fault small">
          <Line text={hand.why} />
        </p>
      )}
      <HandRuns hand={hand} runs={runs} />
      <div className="row">
        {hand.tags.map((tag) => (
          <span key={tag} className="tag">
            <Line text={tag} chars={40} />
          </span>
        ))}
        <details className="small">
          <summary>{countOf(hand.tools.length, "tool")}</summary>
          <Line text={hand.tools.join(", ")} chars={2000} />
        </details>
      </div>
      <HandActions hand={hand} isAdmin={isAdmin} changed={changed} />
    </section>
  );
}

function State({ hand: { barred, state } }: { readonly hand: HandRecord }): ReactNode {
  if (barred !== null)
    return <span className="state bad">{barred === "revoked" ? translate("revoked") : translate("quarantined")}</span>;
  const [word, tone] = healthWords(state);
  return <span className={`state ${tone}`}>{word}</span>;
}

function Load({ samples }: { readonly samples: readonly HandSample[] }): ReactNode {
  const last = samples.at(-1);
  if (last === undefined) return null;
  return (
    <div className="k">
      <span>CPU {Math.round(numberIn(last, "cpu") * 100)} %</span>
      <span>{translate("memory {size} used", { size: gigabytes(numberIn(last, "mem")) })}</span>
      <span>{translate("disk {size} used", { size: gigabytes(numberIn(last, "disk")) })}</span>
    </div>
  );
}

function gigabytes(mebibytes: number): string {
  return `${(mebibytes / 1024).toFixed(1)} GiB`;
}

function numberIn({ payload }: HandSample, name: string): number {
  const value = payload[name];
  return typeof value === "number" ? value : 0;
}
