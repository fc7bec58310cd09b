import { asFault, TERMINAL_LIMITS } from "@vidro/core";
import { oneLine } from "@vidro/core/text";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { requireFolder } from "../program/require-folder.ts";
import { readWords } from "../view/keyboard.ts";
import { paint } from "../view/symbols.ts";
import { showRun } from "../view/show-run.ts";
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
export async function talk(): Promise<number> {
  return withBrainApi({}, async (brain) => {
    await greet(brain);
    return new Talk(brain).run();
  });
}

/** Reads the next task of a conversation; undefined at the end of input. */
export async function readTalkWords(history: readonly string[]): Promise<string | undefined> {
  process.on("SIGINT", hint);
  try {
    return (await readWords(PROMPT, NEVER, history))?.trim();
  } finally {
    process.off("SIGINT", hint);
  }
}

/** Whether a line leaves the conversation. */
export function leavesTalk(words: string): boolean {
  return EXITS.has(words.toLowerCase());
}

async function greet(brain: BrainApi): Promise<void> {
  const decider = await brain.decider();
  print(
    `${paint(["cyan", "bold"], "vidro")} ${paint("dim", `in ${requireFolder(".")} · brain: ${brain.place}`)}`,
    ...(decider === undefined ? [] : [decider]),
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
  #thread: string | undefined;
  #history: string[] = [];

  constructor(brain: BrainApi) {
    this.#brain = brain;
  }

  async run(): Promise<number> {
    const earlier = await this.#brain.runs.list({ limit: TERMINAL_LIMITS.history });
    this.#history = earlier.map((head) => oneLine(head.task, TERMINAL_LIMITS.lineChars));
    for (;;) {
      const words = await readTalkWords(this.#history);
      if (words === undefined || leavesTalk(words)) return EXIT.ok;
      if (words === "") continue;
      if (words.startsWith("/") || words === "?") await this.#command(words);
      else {
        const left = await this.#task(words);
        if (left !== undefined) return left;
      }
    }
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

function hint(): void {
  say(paint("dim", "exit or Ctrl-D leaves."));
}

const NEVER = new AbortController().signal;
