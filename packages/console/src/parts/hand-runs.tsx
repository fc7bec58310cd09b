import type { ReactNode } from "react";
import type { HandRecord } from "@vidro/client";
import type { ListedRun } from "../brain/listed-runs.ts";
import { countOf, translate } from "../words/translate.ts";
import { Link } from "./route.tsx";
import { Line } from "./text.tsx";
import { statusWords } from "./words.ts";

/** Runs that a tile lists. */
const SHOWN = 3;

/** The open runs of a hand: those that work there, or wait for it while it is away. */
export function HandRuns({
  hand,
  runs,
}: {
  readonly hand: HandRecord;
  readonly runs: readonly ListedRun[];
}): ReactNode {
  const here = runs.filter((run) => run.hand?.split(",").includes(hand.id));
  if (here.length === 0) return null;
  const isAway = hand.state === "down" && hand.barred === null;
  return (
    <>
      <div className="k">
        <span>
          {isAway
            ? translate(
                here.length === 1
                  ? "{runs} waits for it and goes on when it is back"
                  : "{runs} wait for it and go on when it is back",
                {
                  runs: countOf(here.length, "run"),
                },
              )
            : translate("{runs} on it now", { runs: countOf(here.length, "run") })}
        </span>
      </div>
      <ul className="runs-here">
        {here.slice(0, SHOWN).map((run) => (
          <li key={run.id}>
            <Link to={`/runs/${run.id}`}>
              <RunState run={run} />
              <span>
                <Line text={run.task} chars={120} />
              </span>
            </Link>
          </li>
        ))}
        {here.length > SHOWN && <li className="quiet">{translate("and {n} more", { n: here.length - SHOWN })}</li>}
      </ul>
    </>
  );
}

function RunState({ run }: { readonly run: ListedRun }): ReactNode {
  const [word, tone] = statusWords(run);
  return <span className={`state ${tone}`}>{word}</span>;
}
