import type { ReactNode } from "react";
import { HOUR_MS } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import { countOf, translate } from "../words/translate.ts";

const DAYS = 7;
const [WIDTH, HEIGHT, GAP] = [290, 42, 8];

/** How many runs began on each of the last seven days, and how many of them failed. */
export function WeekOfRuns({ runs }: { readonly runs: readonly RunHead[] }): ReactNode {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const days = Array.from({ length: DAYS }, (_, index) => {
    const from = midnight - (DAYS - 1 - index) * 24 * HOUR_MS;
    return runs.filter(({ startedAt }) => startedAt >= from && startedAt < from + 24 * HOUR_MS).length;
  });
  const week = runs.filter(({ startedAt }) => startedAt >= midnight - (DAYS - 1) * 24 * HOUR_MS);
  const failed = week.filter(({ status }) => status === "failed").length;
  const most = Math.max(1, ...days);
  const width = (WIDTH - GAP * (DAYS - 1)) / DAYS;
  return (
    <section className="card tile" aria-label={translate("Runs of this week")}>
      <div className="k">
        <span>{translate("Runs of this week")}</span>
        <span>
          {countOf(week.length, "run")} · {translate("{n} failed", { n: failed })}
        </span>
      </div>
      <svg
        className="spark"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={translate("By day, the last is today: {days}", { days: days.join(", ") })}
      >
        {days.map((count, index) => (
          <rect
            key={index}
            className="bar"
            x={index * (width + GAP)}
            width={width}
            y={HEIGHT - Math.max(1, (count / most) * HEIGHT)}
            height={Math.max(1, (count / most) * HEIGHT)}
          />
        ))}
      </svg>
    </section>
  );
}
