import { readFileSync, writeFileSync } from "node:fs";
import { ROOT } from "../setup.js";
import { commandPage } from "./commands.ts";
import { configPage } from "./config.ts";
import { errorPage } from "./errors.ts";
import { eventPage } from "./events.ts";
import { limitPage } from "./limits.ts";
import { logPage } from "./log.ts";
import { metricPage } from "./metrics.ts";

/** The pages that are made from the code, by the name of their file. */
const PAGES: Readonly<Record<string, () => string>> = {
  cli: commandPage,
  config: configPage,
  errors: errorPage,
  events: eventPage,
  limits: limitPage,
  log: logPage,
  metrics: metricPage,
};

const isCheck = process.argv.includes("--check");
const stale: string[] = [];
for (const [name, make] of Object.entries(PAGES)) {
  const path = `docs/reference/${name}.md`;
  const page = `${make().trimEnd()}\n`;
  if (!isCheck) writeFileSync(ROOT + path, page);
  else if (textOf(ROOT + path) !== page) stale.push(path);
}
if (stale.length > 0) {
  process.stderr.write(`reference: older than the code: ${stale.join(", ")}; make them anew: npm run reference\n`);
  process.exitCode = 1;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
