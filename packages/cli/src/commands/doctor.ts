import { EXIT } from "../program/exit-codes.ts";
import { runChecks } from "./doctor/doctor-checks.ts";
import type { CheckResult } from "./doctor/doctor-checks.ts";
import { paint } from "../view/symbols.ts";
import { print, writeJson } from "../program/output.ts";

const COLOURS = { ok: "green", warn: "yellow", fail: "red" } as const;
const STATUS_CHARS = 4;
const ID_CHARS = 9;

/** Runs and prints all checks; fails when one of them would keep runs from working. */
export async function runDoctor(flags: { readonly json?: boolean }): Promise<number> {
  let failed = false;
  for await (const row of runChecks()) {
    failed ||= row.status === "fail";
    if (flags.json === true) writeJson(row);
    else print(...lines(row));
  }
  return failed ? EXIT.failed : EXIT.ok;
}

function lines({ id, status, summary, fix }: CheckResult): readonly string[] {
  const first = `${paint(COLOURS[status], status.padEnd(STATUS_CHARS))}  ${id.padEnd(ID_CHARS)}  ${summary}`;
  return fix === "" ? [first] : [first, `${" ".repeat(STATUS_CHARS + ID_CHARS + 4)}${paint("dim", `fix: ${fix}`)}`];
}
