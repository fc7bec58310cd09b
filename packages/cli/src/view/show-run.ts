import { absentAnswerer, personAnswerer, yesAnswerer } from "./questions.ts";
import type { Answerer } from "./questions.ts";
import { ndjsonScreen } from "./screen.ts";
import type { Verbosity, Screen } from "./screen.ts";
import type { BrainRuns } from "../brain-api/brain-api.ts";
import { terminalName } from "./symbols.ts";
import { watchRun } from "./watch-run.ts";

/** Flags that say how a run is shown and who answers. */
export interface ShowFlags extends Partial<Verbosity> {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Whether a run is written as NDJSON: with --json, or when stdout is no terminal. */
function tellsPrograms({ json }: ShowFlags): boolean {
  return json === true || !process.stdout.isTTY;
}

/** Shows a run from entry `after` on to its end and gives the exit code. */
export async function showRun(
  runs: BrainRuns,
  run: { readonly id: string; readonly after: number },
  flags: ShowFlags,
): Promise<number> {
  return watchRun({
    runs,
    run: run.id,
    after: run.after,
    screen: await screenFor(run.id, flags),
    answerer: answererFor(flags),
  });
}

/** The screen for a run; `live` is false for a run that is only printed. */
export async function screenFor(run: string, flags: ShowFlags, live = terminalName() !== "dumb"): Promise<Screen> {
  const { quiet = false, verbose = false } = flags;
  if (tellsPrograms(flags)) return ndjsonScreen(run, { verbose });
  // Loaded only for a terminal: programs get NDJSON.
  const { terminalScreen } = await import("./run-view.ts");
  return terminalScreen({ run, stream: process.stdout, live, quiet, verbose });
}

function answererFor(flags: ShowFlags): Answerer {
  if (flags.yes === true) return yesAnswerer;
  return !tellsPrograms(flags) && process.stdin.isTTY ? personAnswerer : absentAnswerer;
}
