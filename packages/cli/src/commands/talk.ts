import type { Brain } from "@vidro/brain";
import { asFault, TERMINAL_LIMITS } from "@vidro/core";
import { oneLine, SHORT_ID_CHARS } from "@vidro/core/text";
import { embeddedBrain } from "../brain-api/embedded.ts";
import { EXIT } from "../program/exit-codes.ts";
import { requireFolder } from "../program/require-folder.ts";
import { readWords } from "../view/keyboard.ts";
import { paint } from "../view/symbols.ts";
import { showRun } from "../view/show-run.ts";
import { print, say, sayFault } from "../program/output.ts";
import { withHomeBrain } from "../brain-api/open-brain-api.ts";

const PROMPT = "› ";
const TASK_CHARS = 70;
const LISTED_RUNS = 10;
const EXAMPLES = ["how much disk is free here?", "what is in this folder?", "which processes use the most memory?"];

const HELP = `Say what to do, in your own words; the next line goes on from there.
  /runs   the latest runs
  /help   this
  /exit   leave (Ctrl-D does too)
While something runs: Ctrl-C ends it; twice leaves it open for vidro attach.`;

/** A conversation: each line typed becomes a run, and each run knows the ones before it. */
export async function talk(): Promise<number> {
  return withHomeBrain(async (brain) => {
    await greet(brain);
    return new Talk(brain).run();
  });
}

async function greet(brain: Brain): Promise<void> {
  const { name, because } = await brain.model();
  print(
    `${paint(["cyan", "bold"], "vidro")} ${paint("dim", `in ${requireFolder(".")}`)}`,
    `${paint("bold", name)} decides, because ${because}.`,
    "Nothing is changed without your yes, and everything is kept: vidro runs list",
    "",
    "Try:",
    ...EXAMPLES.map((example) => `  ${paint("cyan", example)}`),
    paint("dim", "/help tells more, Ctrl-D leaves."),
    "",
  );
}

class Talk {
  readonly #brain: Brain;
  #thread: string | undefined;
  #history: string[] = [];

  constructor(brain: Brain) {
    this.#brain = brain;
  }

  async run(): Promise<number> {
    const earlier = await this.#brain.runs.list({ limit: TERMINAL_LIMITS.history });
    this.#history = earlier.map((head) => oneLine(head.task, TERMINAL_LIMITS.lineChars));
    for (;;) {
      const words = await this.#prompt();
      if (words === undefined || words === "/exit" || words === "/quit") return EXIT.ok;
      if (words === "") continue;
      if (words.startsWith("/")) await this.#command(words);
      else {
        const left = await this.#task(words);
        if (left !== undefined) return left;
      }
    }
  }

  async #prompt(): Promise<string | undefined> {
    process.on("SIGINT", hint);
    try {
      const words = await readWords(PROMPT, NEVER, this.#history);
      return words?.trim();
    } finally {
      process.off("SIGINT", hint);
    }
  }

  async #command(words: string): Promise<void> {
    if (words === "/help") say(...HELP.split("\n"));
    else if (words === "/runs") {
      for (const { id, status, task } of await this.#brain.runs.list({ limit: LISTED_RUNS })) {
        print(`${id.slice(-SHORT_ID_CHARS)}  ${status}  ${oneLine(task, TASK_CHARS)}`);
      }
    } else say(`There is no ${oneLine(words, TASK_CHARS)}. /help tells what there is.`);
  }

  /** Runs a task; gives an exit code when the run is left open, which ends the conversation. */
  async #task(task: string): Promise<number | undefined> {
    this.#history = [task, ...this.#history].slice(0, TERMINAL_LIMITS.history);
    try {
      const { run } = await this.#brain.runs.start({
        task,
        workspace: requireFolder("."),
        ...(this.#thread === undefined ? {} : { thread: this.#thread }),
      });
      this.#thread = run.thread;
      const code = await showRun(embeddedBrain(async () => this.#brain).runs, { id: run.id, after: 0 }, {});
      const { status } = await this.#brain.runs.find(run.id);
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
  say(paint("dim", "Ctrl-D leaves."));
}

const NEVER = new AbortController().signal;
