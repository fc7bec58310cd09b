import { paint } from "./symbols.ts";
import { terminalName } from "./terminal-kind.ts";
import { absentAnswerer, personAnswerer, yesAnswerer } from "./questions.ts";
import type { Answerer } from "./questions.ts";
import { ndjsonScreen } from "./screen.ts";
import type { Verbosity, Screen } from "./screen.ts";
import type { BrainApi, BrainRuns } from "../brain-api/brain-api.ts";
import { peopleStream, say } from "../program/output.ts";
import { watchRun } from "./watch-run.ts";

/** Flags that say how a run is shown and who answers. */
export interface ShowFlags extends Partial<Verbosity> {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Says which brain works, before anything else; programs and those who want only the answer are not told. */
export function sayBrain({ place }: Pick<BrainApi, "place">, { json, quiet }: ShowFlags): void {
  if (json !== true && quiet !== true) say(paint("dim", `brain: ${place}`, process.stderr));
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

/**
 * The screen for a run: NDJSON with --json, else text for people, whose answer goes to stdout and whose progress goes to
 * the terminal, or to stderr when stdout is none.
 */
async function screenFor(run: string, flags: ShowFlags): Promise<Screen> {
  const { quiet = false, verbose = false } = flags;
  if (flags.json === true) return ndjsonScreen(run, { verbose });
  // Loaded only for people: programs get NDJSON.
  const { terminalScreen } = await import("./run-view.ts");
  const stream = peopleStream();
  const live = stream.isTTY && terminalName() !== "dumb";
  return terminalScreen({ run, stream, live, isPiped: !process.stdout.isTTY, quiet, verbose });
}

/** The screen for a run that is only printed: all of it goes to stdout, and nothing is redrawn. */
export async function printedScreen(run: string, { json, verbose = false }: ShowFlags): Promise<Screen> {
  if (json === true) return ndjsonScreen(run, { verbose });
  const { terminalScreen } = await import("./run-view.ts");
  return terminalScreen({ run, stream: process.stdout, live: false, isPiped: false, quiet: false, verbose });
}

function answererFor(flags: ShowFlags): Answerer {
  if (flags.yes === true) return yesAnswerer;
  return flags.json !== true && process.stdin.isTTY && peopleStream().isTTY ? personAnswerer : absentAnswerer;
}
