import type { ReactNode } from "react";
import { CONSOLE_LIMITS, HOUR_MS, isObject, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { dollarWords } from "@vidro/core/text";
import { request } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { countOf, localeNow, translate } from "../words/translate.ts";

const DAYS = 7;

/** Tokens and money of one day. */
interface DayCost {
  readonly day: string;
  readonly tokens: number;
  readonly unpriced: number;
  readonly costUsd: number;
}

/** What models used and cost on each of the last seven days; days are those of UTC, as the brain counts them. */
export function WeekOfCosts(): ReactNode {
  const { value: rows } = usePolled("usage", readUsage, CONSOLE_LIMITS.catalogMs);
  if (rows === undefined || rows.length === 0) return null;
  const days = Array.from({ length: DAYS }, (_, index) => dayOf(rows, index - DAYS + 1));
  const most = Math.max(1, ...days.map(({ tokens }) => tokens));
  const sum = days.reduce((total, { costUsd }) => total + costUsd, 0);
  const isPartly = days.some(({ unpriced }) => unpriced > 0);
  return (
    <section className="card tile" aria-label={translate("Spent this week")}>
      <div className="k">
        <span>{translate("Spent this week")}</span>
        <span>
          {countOf(
            days.reduce((total, { tokens }) => total + tokens, 0),
            "token",
          )}
          {" · "}
          {isPartly && sum === 0 ? translate("price not known") : dollarWords(sum)}
          {isPartly && sum > 0 && ` (${translate("without models of unknown price")})`}
        </span>
      </div>
      <table className="days">
        <thead className="hidden">
          <tr>
            <th>{translate("Day")}</th>
            <th />
            <th>{translate("Tokens")}</th>
            <th>{translate("Cost")}</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, tokens, costUsd }) => (
            <tr key={day}>
              <th scope="row">
                {new Date(day).toLocaleDateString(localeNow(), { weekday: "short", day: "numeric", timeZone: "UTC" })}
              </th>
              <td className="grow">
                <meter min={0} max={most} value={tokens} aria-label={countOf(tokens, "token")} />
              </td>
              <td>{tokens === 0 ? "" : countOf(tokens, "token")}</td>
              <td>{costUsd === 0 ? "" : dollarWords(costUsd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

async function readUsage(): Promise<readonly JsonObject[]> {
  const since = Date.now() - DAYS * 24 * HOUR_MS;
  const { usage } = await request("GET", `/v1/usage?by=day&since=${since}`);
  return Array.isArray(usage) ? usage.filter(isObject) : [];
}

/** The sums of a day over all owners, so many days from today. */
function dayOf(rows: readonly JsonObject[], offset: number): DayCost {
  const day = new Date(Date.now() + offset * 24 * HOUR_MS).toISOString().slice(0, "2026-12-01".length);
  const of = rows.filter((row) => textIn(row, "key") === day);
  const sum = (name: string): number => of.reduce((total, row) => total + Number(row[name] ?? 0), 0);
  return {
    day,
    tokens: sum("inputTokens") + sum("outputTokens"),
    unpriced: sum("unpricedTokens"),
    costUsd: sum("costUsd"),
  };
}
