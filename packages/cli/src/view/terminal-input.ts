import { StringDecoder } from "node:string_decoder";
import { TERMINAL_LIMITS } from "@vidro/core";
import { markControl, toTerminal } from "./control-sequences.ts";
import { KeyReader } from "./keys.ts";
import type { Key } from "./keys.ts";
import { terminalName } from "./terminal-kind.ts";
import { peopleStream } from "../program/output.ts";

/*
 * The keyboard of this process. While it is held, the terminal is in raw mode, also between two prompts: Ctrl-C is a key
 * like any other then, and no moment is left in which the terminal itself would end the process. Each key goes to the
 * reader that was added last; keys that no reader waits for are kept for the next one.
 */

/** Takes keys in. */
type KeyListener = (key: Key) => void;

class TerminalInput {
  #holds = 0;
  readonly #listeners: KeyListener[] = [];
  /** Tells of a listener whether a text is begun in it. */
  readonly #writing = new Map<KeyListener, () => boolean>();
  #waiting: Key[] = [];
  #reader = new KeyReader();
  /** A character may come in two pieces. */
  #decoder = new StringDecoder("utf8");
  #flushing: NodeJS.Timeout | undefined;
  #lastKeyAt = 0;
  readonly #hear = (chunk: Buffer): void => {
    clearTimeout(this.#flushing);
    this.#lastKeyAt = performance.now();
    this.#take(this.#reader.read(this.#decoder.write(chunk)));
    if (this.#reader.holdsKey)
      this.#flushing = setTimeout(() => this.#take(this.#reader.flush()), TERMINAL_LIMITS.keyRestMs);
  };
  readonly #restore = (): void => setPaste(false);

  /** Milliseconds since the last key. */
  get quietMs(): number {
    return performance.now() - this.#lastKeyAt;
  }

  /** Whether a person has begun a text in the reader that has the keyboard. */
  get isWriting(): boolean {
    const listener = this.#listeners.at(-1);
    return listener !== undefined && this.#writing.get(listener)?.() === true;
  }

  /** Whether a reader has the keyboard, or keys wait for one. */
  get isInUse(): boolean {
    return this.#listeners.length > 0 || this.#waiting.length > 0;
  }

  /** Reads keys from now on; returns a function that ends that. */
  hold(): () => void {
    this.#holds += 1;
    if (this.#holds === 1) this.#begin();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      if (this.#holds === 0) this.#end();
    };
  }

  /** Gives all keys to a listener, first those that wait for one; returns a function that removes it. */
  listen(listener: KeyListener, isWriting?: () => boolean): () => void {
    const release = this.hold();
    this.#listeners.push(listener);
    if (isWriting !== undefined) this.#writing.set(listener, isWriting);
    // Later, so that the listener can be removed by a key that waits.
    queueMicrotask(() => this.#deliver());
    return () => {
      const index = this.#listeners.lastIndexOf(listener);
      if (index !== -1) this.#listeners.splice(index, 1);
      this.#writing.delete(listener);
      release();
    };
  }

  /** Forgets the keys that wait. */
  drop(): void {
    this.#waiting = [];
  }

  /** Stops the process as Ctrl-Z does; resolves when it goes on. */
  async suspend(): Promise<void> {
    const goesOn = new Promise<void>((resolve) => process.once("SIGCONT", () => resolve()));
    setPaste(false);
    process.stdin.setRawMode(false);
    process.kill(process.pid, "SIGTSTP");
    await goesOn;
    process.stdin.setRawMode(true);
    setPaste(true);
  }

  #take(keys: readonly Key[]): void {
    for (const key of keys) {
      if (key.name === "interrupt" && this.#listeners.length === 0) sendInterrupt();
      else if (this.#waiting.length < MOST_WAITING) this.#waiting.push(key);
    }
    this.#deliver();
  }

  /** Gives the keys that wait to the listener; one that is done leaves the rest to the next one. */
  #deliver(): void {
    for (let listener = this.#listeners.at(-1); listener !== undefined; listener = this.#listeners.at(-1)) {
      const key = this.#waiting.shift();
      if (key === undefined) return;
      listener(key);
    }
  }

  #begin(): void {
    const { stdin } = process;
    stdin.setRawMode(true);
    this.#reader = new KeyReader();
    this.#decoder = new StringDecoder("utf8");
    setPaste(true);
    process.on("exit", this.#restore);
    stdin.on("data", this.#hear);
    stdin.resume();
  }

  #end(): void {
    const { stdin } = process;
    clearTimeout(this.#flushing);
    stdin.off("data", this.#hear);
    stdin.pause();
    stdin.setRawMode(false);
    this.#waiting = [];
    setPaste(false);
    process.off("exit", this.#restore);
  }
}

/** The most keys that are kept while no reader waits for them. */
const MOST_WAITING = 10_000;

/** The keyboard. */
export const terminalInput = new TerminalInput();

/** Sends the signal of Ctrl-C, which raw mode does not. */
export function sendInterrupt(): void {
  process.kill(process.pid, "SIGINT");
}

/** Lets the terminal mark what is pasted, or not any more. */
function setPaste(isOn: boolean): void {
  if (terminalName() !== "dumb") peopleStream().write(toTerminal(markControl(isOn ? "?2004h" : "?2004l")));
}
