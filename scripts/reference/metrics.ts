import { Metrics } from "../../packages/brain/src/observe/metrics.ts";
import { page, table } from "./page.ts";

/** Every number of `/metrics`: its kind, and what it counts. */
export function metricPage(): string {
  const text = new Metrics().text();
  const help = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = "", words = ""]) => [name, words]));
  const rows = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = "", kind = ""]) => [
    `\`${name}\``,
    kind,
    help.get(name) ?? "",
  ]);
  return page("Metrics", "`packages/brain/src/observe/metrics.ts`", [
    "The daemon tells these at `/metrics` in the text format of Prometheus, to tokens with the scope `metrics`.",
    table(["name", "kind", "what it counts"], rows),
  ]);
}
