import { FAULTS } from "@vidro/core";
import { page, table } from "./page.ts";

/** What becomes of the work that met a fault, in words. */
const FATES = { retry: "tried again", refuse: "refused", pause: "a person decides", bug: "our fault, logged" } as const;

/** Every fault: what happened, what to do next, and what it is on the wires. */
export function errorPage(): string {
  const rows = Object.entries(FAULTS).map(([code, { says, next, http, exit, fate, severity }]) => [
    `\`${code}\``,
    says,
    next,
    String(http),
    String(exit),
    FATES[fate],
    severity,
  ]);
  const head = ["code", "what happened", "what to do next", "HTTP", "exit", "the work is", "severity"];
  return page("Errors", "`packages/core/src/fault-table.ts`", [
    "Every failure has one of these codes on every wire. The message says more where more is known.",
    table(
      head,
      rows.toSorted(([one = ""], [other = ""]) => one.localeCompare(other)),
    ),
  ]);
}
