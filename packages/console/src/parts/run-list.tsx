import { useCallback } from "react";
import type { ReactNode } from "react";
import type { RunHead, UsageTotal } from "@vidro/core";
import { dollarWords } from "@vidro/core/text";
import { vidro } from "../brain/connection.ts";
import type { ListedRun } from "../brain/listed-runs.ts";
import { countOf, translate } from "../words/translate.ts";
import { Link } from "./route.tsx";
import { Line } from "./text.tsx";
import { VirtualList } from "./virtual-list.tsx";
import { agoWords, clockWords, shortId, statusWords, tookWords } from "./words.ts";

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
    <section className={stopped === undefined ? "card list" : "card list two-lines"}>
      <VirtualList
        items={runs}
        guessPx={stopped === undefined ? 42 : 62}
        keyOf={keyOf}
        draw={draw}
        label={translate("Runs")}
      />
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
        {run.spent !== undefined && <span className="quiet used">{usedWords(run.spent)}</span>}
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

/** Steps, tokens and money; those of a conversation are not told apart by its runs. */
function usedWords({ runs, steps, inputTokens, outputTokens, unpricedTokens, costUsd }: UsageTotal): string {
  const tokens = inputTokens + outputTokens;
  const cost = costUsd > 0 ? [dollarWords(costUsd)] : unpricedTokens > 0 ? [translate("price not known")] : [];
  const words = [countOf(steps, "step"), ...(tokens === 0 ? [] : [countOf(tokens, "token"), ...cost])].join(" · ");
  return runs > 1 ? translate("conversation: {used}", { used: words }) : words;
}
