import { asFault, Fault, TERMINAL_LIMITS } from "@vidro/core";
import type { FilePart } from "@vidro/core";
import { DIRECT, directTask } from "@vidro/core/run";
import { commandWords, oneLine } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { modelOf } from "../program/model-flags.ts";
import type { ModelFlags } from "../program/model-flags.ts";
import { requireFolder } from "../program/require-folder.ts";
import { isRunWatched } from "../view/interrupts.ts";
import { readWords } from "../view/keyboard.ts";
import type { Completions, WordsOptions } from "../view/keyboard.ts";
import { terminalInput } from "../view/terminal-input.ts";
import { terminalLanguage } from "../view/terminal-kind.ts";
import { paint } from "../view/symbols.ts";
import { showTalkedRun, unusedModelWords } from "../view/show-run.ts";
import { print, say, sayFault } from "../program/output.ts";
import { completeFile, includeFiles } from "./talk/included-files.ts";
import { commandsLike, isTalkCommand, talkCommand } from "./talk/slash-commands.ts";
import type { TalkState } from "./talk/slash-commands.ts";
import { sayWrapped } from "./talk/say-wrapped.ts";
import { talkWords } from "./talk/talk-words.ts";

const PROMPT = "› ";
const TASK_CHARS = 70;
/** Words that leave the conversation. */
const EXITS = new Set(["exit", "quit", "bye", "sair", "salir", ":q", "/exit", "/quit"]);

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
export async function* readTasks(how: () => WordsOptions = () => ({})): AsyncGenerator<string> {
  const words = talkWords(terminalLanguage());
  let pressesAtWork = 0;
  let isAtWork = false;
  const interrupt = (): void => {
    if (isRunWatched()) return;
    if (isAtWork && (pressesAtWork += 1) > 1) process.exit(EXIT.aborted);
    say(paint("dim", isAtWork ? words.leavesAgain : words.leaves));
  };
  process.on("SIGINT", interrupt);
  // For the whole conversation: between two prompts, too, Ctrl-C is a key.
  const release = terminalInput.hold();
  try {
    for (;;) {
      const typed = (await readWords(PROMPT, NEVER, how()))?.trim();
      if (typed === undefined || EXITS.has(typed.toLowerCase())) return;
      if (typed === "") continue;
      isAtWork = true;
      yield typed;
      [isAtWork, pressesAtWork] = [false, 0];
    }
  } finally {
    release();
    process.off("SIGINT", interrupt);
  }
}

async function greet(brain: BrainApi, { model }: ModelFlags): Promise<void> {
  const words = talkWords(terminalLanguage());
  const decider = model === undefined ? await brain.decider() : words.decides(oneLine(model, TASK_CHARS));
  sayWrapped(
    `${paint(["cyan", "bold"], "vidro")} ${paint("dim", words.place(requireFolder("."), brain.place))}`,
    ...(decider === undefined ? [] : [decider]),
    ...(model === undefined ? unusedModelWords(brain) : []),
    words.kept,
    "",
    words.tryThis,
    ...words.examples.map((example) => `  ${paint("cyan", example)}`),
    paint("dim", words.hint),
    "",
  );
}

class Talk {
  readonly #brain: BrainApi;
  readonly #words = talkWords(terminalLanguage());
  readonly #state: TalkState;
  #history: readonly string[] = [];
  /** What was typed while a run worked and was not sent. */
  #draft = "";

  constructor(brain: BrainApi, flags: ModelFlags) {
    this.#brain = brain;
    this.#state = { model: modelOf(flags), agent: undefined, tools: undefined, thread: undefined, runs: [] };
  }

  async run(): Promise<number> {
    const earlier = await this.#brain.runs.list({ limit: TERMINAL_LIMITS.history });
    this.#history = earlier.map((head) => oneLine(head.task, TERMINAL_LIMITS.lineChars));
    const how = (): WordsOptions => ({ history: this.#history, prefill: this.#draft, complete });
    for await (const typed of readTasks(how)) {
      this.#draft = "";
      this.#history = [typed, ...this.#history.filter((other) => other !== typed)].slice(0, TERMINAL_LIMITS.history);
      const left = await this.#take(typed).catch((thrown: unknown) => sayFault(asFault(thrown).report()));
      if (left !== undefined) return left;
    }
    return EXIT.ok;
  }

  /** Carries out what was typed; gives an exit code when a run is left open, which ends the conversation. */
  async #take(typed: string): Promise<number | undefined> {
    const words = this.#words;
    if (isTalkCommand(typed)) {
      const watched = await talkCommand(typed, { brain: this.#brain, state: this.#state, words });
      if (watched === undefined) return undefined;
      return "id" in watched
        ? this.#watch(watched.id, watched.isOwn)
        : this.#start({ ...this.#state.model, ...watched });
    }
    if (typed === "!") {
      sayWrapped(words.noCommand(typed));
      return undefined;
    }
    if (typed.startsWith("!"))
      return this.#start({ task: directTask(argvOf(typed.slice(1), words.unclosedQuote)), agent: DIRECT });
    const { task, files, notes } = await includeFiles(typed, words);
    sayWrapped(...notes.map((note) => paint("dim", `  ${note}`)));
    const { agent, tools, model } = this.#state;
    return this.#start({
      task,
      files,
      ...model,
      ...(agent === undefined ? {} : { agent }),
      ...(tools === undefined ? {} : { tools }),
    });
  }

  async #start(request: {
    readonly task: string;
    readonly files?: readonly FilePart[];
    readonly agent?: string;
    readonly tools?: readonly string[];
  }): Promise<number | undefined> {
    const { thread } = this.#state;
    const workspace = requireFolder(".");
    const { run } = await this.#brain.runs.start({
      ...request,
      workspace,
      ...(thread === undefined ? {} : { thread }),
    });
    this.#state.thread = run.thread;
    return this.#watch(run.id, true);
  }

  async #watch(run: string, isOwn: boolean): Promise<number | undefined> {
    if (isOwn) this.#state.runs = [...this.#state.runs, run];
    const { runs } = this.#brain;
    try {
      const { code, unsent } = await showTalkedRun(runs, { id: run, after: 0 });
      this.#draft = unsent;
      const { status } = await runs.find(run);
      return isOwn && (status === "running" || status === "asking") ? code : undefined;
    } finally {
      print("");
    }
  }
}

/** What makes a line more than a program and its arguments. */
const SHELL_SIGNS = /[|&;<>()$`*?[\]#~{}!\n]|^\s*\w+=/;

/** The program and arguments of a command line; one that needs a shell is given to one. */
function argvOf(line: string, unclosed: string): readonly string[] {
  const argv = SHELL_SIGNS.test(line) ? ["sh", "-c", line.trim()] : commandWords(line);
  if (argv === undefined || argv.length === 0) throw new Fault("BAD_REQUEST", unclosed);
  return argv;
}

async function complete(before: string): Promise<Completions | undefined> {
  if (/^\/\S*$/.test(before)) return { from: 0, words: commandsLike(before) };
  return completeFile(before);
}

const NEVER = new AbortController().signal;
