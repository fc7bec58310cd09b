import { asFault, Fault, TERMINAL_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { modelOf } from "../program/model-flags.ts";
import type { ModelFlags } from "../program/model-flags.ts";
import { requireFolder } from "../program/require-folder.ts";
import { isRunWatched } from "../view/interrupts.ts";
import { readWords } from "../view/keyboard.ts";
import { paint } from "../view/symbols.ts";
import { showRun, unusedModelWords } from "../view/show-run.ts";
import { print, say, sayFault } from "../program/output.ts";
import { runRows } from "./runs.ts";

const PROMPT = "› ";
const TASK_CHARS = 70;
const LISTED_RUNS = 10;
const EXAMPLES = ["how much disk is free here?", "what is in this folder?", "which processes use the most memory?"];
/** Words that leave the conversation. */
const EXITS = new Set(["exit", "quit", "bye", "sair", "salir", ":q", "/exit", "/quit"]);

const HELP = `Say what to do, in your own words; the next line goes on from there.
  /runs   the latest runs
  /help   this, as ? does
  exit    leave (Ctrl-D does too)
Arrow up brings back earlier tasks. A text of several lines that you paste is one task.
While something runs: Ctrl-C ends it; twice leaves it open for vidro attach.
When you are asked: y yes, n or Esc no, w no and why, ? the keys.`;

/** A conversation: each line typed becomes a run, and each run knows the ones before it. */
export async function talk(flags: BrainFlags & ModelFlags = {}): Promise<number> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new Fault("BAD_REQUEST", 'A conversation needs a terminal; a single task does not: vidro run "<task>"');
  return withBrainApi(flags, async (brain) => {
    await greet(brain, flags);
    return new Talk(brain, flags).run();
  });
}

/**
 * The tasks that a person types, until the end of input or a word that leaves.
 * Ctrl-C between two tasks prints how to leave; while a run is watched, its watcher acts on Ctrl-C;
 * while a task is being started, the second Ctrl-C ends the process.
 */
export async function* readTasks(history: () => readonly string[] = () => []): AsyncGenerator<string> {
  let pressesAtWork = 0;
  let isAtWork = false;
  const interrupt = (): void => {
    if (isRunWatched()) return;
    if (isAtWork && (pressesAtWork += 1) > 1) process.exit(EXIT.aborted);
    say(paint("dim", isAtWork ? "Ctrl-C again leaves." : "exit or Ctrl-D leaves."));
  };
  process.on("SIGINT", interrupt);
  try {
    for (;;) {
      const words = (await readWords(PROMPT, NEVER, { history: history() }))?.trim();
      if (words === undefined || EXITS.has(words.toLowerCase())) return;
      if (words === "") continue;
      isAtWork = true;
      yield words;
      [isAtWork, pressesAtWork] = [false, 0];
    }
  } finally {
    process.off("SIGINT", interrupt);
  }
}

async function greet(brain: BrainApi, { model }: ModelFlags): Promise<void> {
  const decider = model === undefined ? await brain.decider() : `${oneLine(model, TASK_CHARS)} decides.`;
  print(
    `${paint(["cyan", "bold"], "vidro")} ${paint("dim", `in ${requireFolder(".")} · brain: ${brain.place}`)}`,
    ...(decider === undefined ? [] : [decider]),
    ...(model === undefined ? unusedModelWords(brain) : []),
    "Nothing is changed without your yes, and everything is kept: vidro runs list",
    "",
    "Try:",
    ...EXAMPLES.map((example) => `  ${paint("cyan", example)}`),
    paint("dim", "? tells more, exit leaves."),
    "",
  );
}

class Talk {
  readonly #brain: BrainApi;
  readonly #model: ModelFlags;
  #thread: string | undefined;
  #history: string[] = [];

  constructor(brain: BrainApi, flags: ModelFlags) {
    this.#brain = brain;
    this.#model = modelOf(flags);
  }

  async run(): Promise<number> {
    const earlier = await this.#brain.runs.list({ limit: TERMINAL_LIMITS.history });
    this.#history = earlier.map((head) => oneLine(head.task, TERMINAL_LIMITS.lineChars));
    for await (const words of readTasks(() => this.#history)) {
      if (words.startsWith("/") || words === "?") await this.#command(words);
      else {
        const left = await this.#task(words);
        if (left !== undefined) return left;
      }
    }
    return EXIT.ok;
  }

  async #command(words: string): Promise<void> {
    if (words === "/help" || words === "?") say(...HELP.split("\n"));
    else if (words === "/runs") print(...runRows(await this.#brain.runs.list({ limit: LISTED_RUNS })));
    else say(`There is no ${oneLine(words, TASK_CHARS)}. /help tells what there is.`);
  }

  /** Runs a task; gives an exit code when the run is left open, which ends the conversation. */
  async #task(task: string): Promise<number | undefined> {
    this.#history = [task, ...this.#history].slice(0, TERMINAL_LIMITS.history);
    const { runs } = this.#brain;
    try {
      const { run } = await runs.start({
        task,
        workspace: requireFolder("."),
        ...this.#model,
        ...(this.#thread === undefined ? {} : { thread: this.#thread }),
      });
      this.#thread = run.thread;
      const code = await showRun(runs, { id: run.id, after: 0 }, {});
      const { status } = await runs.find(run.id);
      return status === "running" || status === "asking" ? code : undefined;
    } catch (thrown) {
      sayFault(asFault(thrown).report());
      return undefined;
    } finally {
      print("");
    }
  }
}

const NEVER = new AbortController().signal;
