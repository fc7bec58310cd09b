import { randomUUID } from "node:crypto";
import { asFault } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import { paint } from "./symbols.ts";
import { terminalName } from "./terminal-kind.ts";
import { absentAnswerer, personAnswerer, userName, yesAnswerer } from "./questions.ts";
import type { Answerer } from "./questions.ts";
import { openRemarkLine } from "./remark-line.ts";
import type { RemarkLine } from "./remark-line.ts";
import { ndjsonScreen } from "./screen.ts";
import type { Screen, TerminalOptions, Verbosity } from "./screen.ts";
import type { BrainApi, BrainRuns } from "../brain-api/brain-api.ts";
import { peopleStream, say } from "../program/output.ts";
import type { ModelFlags } from "../program/model-flags.ts";
import { watchRun } from "./watch-run.ts";

const MODEL_CHARS = 60;

/** Flags that say how a run is shown and who answers. */
export interface ShowFlags extends Partial<Verbosity> {
  readonly json?: boolean;
  readonly yes?: boolean;
}

/** Says which brain works, before anything else; programs and those who want only the answer are not told. */
export function sayBrain(
  brain: Pick<BrainApi, "place" | "unusedModel">,
  { json, quiet, model }: ShowFlags & ModelFlags,
): void {
  if (json === true || quiet === true) return;
  say(paint("dim", `brain: ${brain.place}`, process.stderr));
  if (model === undefined) say(...unusedModelWords(brain).map((words) => paint("yellow", words, process.stderr)));
}

/** Says that the daemon does not use the model that this shell names, and what would. */
export function unusedModelWords({ unusedModel }: Pick<BrainApi, "unusedModel">): readonly string[] {
  if (unusedModel === undefined) return [];
  const name = oneLine(unusedModel, MODEL_CHARS);
  return [`VIDRO_MODEL is ${name} here, and the daemon was started without it: --model ${name}, or vidro restart`];
}

/**
 * Shows a run from entry `after` on to its end in a conversation: what is typed meanwhile is said to the run. Gives the
 * exit code, and what was typed and not sent.
 */
export async function showTalkedRun(
  runs: BrainRuns,
  run: { readonly id: string; readonly after: number },
): Promise<{ readonly code: number; readonly unsent: string }> {
  let line: RemarkLine | undefined;
  const screen = await screenFor(run.id, {}, (columns) => line?.row(columns));
  const by = userName();
  const tell = (text: string): void =>
    void runs.say(run.id, { id: randomUUID(), text, by }).catch((thrown: unknown) => {
      screen.notice(asFault(thrown).message);
    });
  line = openRemarkLine(tell, () => screen.redraw());
  let code: number;
  try {
    code = await watchRun({
      runs,
      run: run.id,
      after: run.after,
      screen,
      answerer: answererFor({}),
      screenOf: (id) => questionScreen(id, {}),
    });
  } catch (thrown) {
    line.end();
    throw thrown;
  }
  return { code, unsent: line.end() };
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
    screenOf: (id) => questionScreen(id, flags),
  });
}

/**
 * The screen for a run: NDJSON with --json, else text for people, whose answer goes to stdout and whose progress goes to
 * the terminal, or to stderr when stdout is none.
 */
async function screenFor(run: string, flags: ShowFlags, written?: TerminalOptions["written"]): Promise<Screen> {
  const { quiet = false, verbose = false } = flags;
  if (flags.json === true) return ndjsonScreen(run, { verbose });
  // Loaded only for people: programs get NDJSON.
  const { terminalScreen } = await import("./run-view.ts");
  const stream = peopleStream();
  const live = stream.isTTY && terminalName() !== "dumb";
  return terminalScreen({ run, stream, live, isPiped: !process.stdout.isTTY, quiet, verbose, written });
}

/** The screen for the questions of a helper: nothing else of it is shown, and nothing at all to programs. */
async function questionScreen(run: string, { json }: ShowFlags): Promise<Screen> {
  if (json === true) return { ...ndjsonScreen(run, { verbose: false }), entry: () => undefined };
  const { terminalScreen } = await import("./run-view.ts");
  return terminalScreen({ run, stream: peopleStream(), live: false, isPiped: false, quiet: true, verbose: false });
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
