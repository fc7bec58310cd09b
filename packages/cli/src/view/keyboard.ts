import { setTimeout as sleep } from "node:timers/promises";
import { Fault, TERMINAL_LIMITS } from "@vidro/core";
import { markControl } from "./control-sequences.ts";
import { EditArea } from "./edit-area.ts";
import type { Key } from "./keys.ts";
import { LineEditor } from "./line-editor.ts";
import { sendInterrupt, terminalInput } from "./terminal-input.ts";
import { peopleStream, prompt as show } from "../program/output.ts";

const ESCAPE = "\u001b";

/** Reads one key, or a whole line when it arrives at once. */
export async function readKey(prompt: string, signal: AbortSignal): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let said = "";
    let ending: NodeJS.Immediate | undefined;
    const stop = (): void => {
      clearImmediate(ending);
      forget();
      signal.removeEventListener("abort", leave);
    };
    const hear = (key: Key): void => {
      if (key.name === "interrupt") return sendInterrupt();
      said += keyText(key);
      // What arrives in one turn of the event loop was typed or pasted at once.
      ending ??= setImmediate(() => {
        stop();
        resolve(said);
      });
    };
    const leave = (): void => {
      stop();
      reject(inputClosed());
    };
    // Before the prompt, or an early key would be echoed.
    const forget = terminalInput.listen(hear);
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave);
    show(prompt);
  });
}

function keyText({ name, text }: Key): string {
  if (text !== undefined) return text;
  if (name === "enter" || name === "newline") return "\n";
  return name === "escape" || name === "other" ? ESCAPE : "";
}

/**
 * Discards keys that were typed before the question was shown. A person who is writing something else is let finish: their
 * next letters are no answer.
 */
export async function dropStrayKeys(): Promise<void> {
  const restMs = (): number => (terminalInput.isWriting ? TERMINAL_LIMITS.writingMs : TERMINAL_LIMITS.quietMs);
  while (terminalInput.isInUse && terminalInput.quietMs < restMs()) await sleep(TERMINAL_LIMITS.strayKeysMs);
  const forget = terminalInput.listen(({ name }) => {
    if (name === "interrupt") sendInterrupt();
  });
  await sleep(TERMINAL_LIMITS.strayKeysMs);
  forget();
}

/** How words are read. */
export interface WordsOptions {
  /** Earlier texts that the arrow keys bring back, newest first. */
  readonly history?: readonly string[];
  /** A text to begin with. */
  readonly prefill?: string;
  /** Completions of the text before the cursor: where they begin, and what there is. */
  readonly complete?: (before: string) => Promise<Completions | undefined>;
}

/** Words that may stand from a place on. */
export interface Completions {
  readonly from: number;
  readonly words: readonly string[];
}

/** Reads a line, or several that were pasted or made with Alt-Enter; undefined at the end of input. */
export function readWords(
  prompt: string,
  signal: AbortSignal,
  options: WordsOptions = {},
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const reader = new WordsReader(prompt, options, (words) => {
      signal.removeEventListener("abort", leave);
      resolve(words);
    });
    const leave = (): void => {
      reader.close();
      reject(inputClosed());
    };
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave);
  });
}

class WordsReader {
  readonly #editor: LineEditor;
  readonly #area: EditArea;
  readonly #options: WordsOptions;
  readonly #done: (words: string | undefined) => void;
  readonly #forget: () => void;
  #isOpen = true;
  /** After the listeners that were there before and may have printed. */
  readonly #showAgain = (): void => {
    if (this.#isOpen) this.#area.drawAnew(this.#editor.state);
  };
  readonly #resized = (): void => this.#area.draw(this.#editor.state);

  constructor(prompt: string, options: WordsOptions, done: (words: string | undefined) => void) {
    this.#options = options;
    this.#editor = new LineEditor(options);
    this.#area = new EditArea(peopleStream(), prompt);
    this.#done = done;
    process.on("SIGINT", this.#showAgain);
    peopleStream().on("resize", this.#resized);
    this.#area.draw(this.#editor.state);
    this.#forget = terminalInput.listen((key) => void this.#press(key));
  }

  close(): void {
    this.#isOpen = false;
    process.off("SIGINT", this.#showAgain);
    peopleStream().off("resize", this.#resized);
    this.#forget();
  }

  async #press(key: Key): Promise<void> {
    if (!this.#isOpen) return;
    const { text } = this.#editor.state;
    switch (key.name) {
      case "enter":
        if (!this.#editor.endsWithEnter()) break;
        return this.#end(text);
      case "leave":
        if (text !== "") break;
        return this.#end(undefined);
      case "interrupt":
        if (text === "") {
          this.#area.leave();
          return sendInterrupt();
        }
        this.#area.leave();
        this.#editor.clear();
        break;
      case "suspend":
        await terminalInput.suspend();
        return this.#showAgain();
      case "clear":
        show(CLEARED);
        return this.#showAgain();
      case "tab":
        await this.#complete();
        break;
      default:
        this.#editor.press(key);
    }
    if (this.#isOpen) this.#area.draw(this.#editor.state);
  }

  #end(words: string | undefined): void {
    this.#area.leave();
    this.close();
    this.#done(words);
  }

  async #complete(): Promise<void> {
    const { text, at } = this.#editor.state;
    // A folder that is gone has no names; what is written stays as it is.
    const found = await this.#options.complete?.(text.slice(0, at)).catch(() => undefined);
    const { state } = this.#editor;
    if (found === undefined || state.text !== text || state.at !== at || !this.#isOpen) return;
    const { from, words } = found;
    const common = commonStart(words);
    if (common.length > at - from) return this.#editor.replace(from, common);
    if (words.length < 2) return;
    this.#area.leave();
    show(
      `${words.slice(0, TERMINAL_LIMITS.completions).join("  ")}${words.length > TERMINAL_LIMITS.completions ? "  …" : ""}\n`,
    );
  }
}

/** Erases the window and puts the cursor at its top. */
const CLEARED = [markControl("H"), markControl("2J")].join("");

function commonStart(words: readonly string[]): string {
  const [first = "", ...others] = words;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

function inputClosed(): Fault {
  return new Fault("CONFLICT", "The question is closed.");
}
