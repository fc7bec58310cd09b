import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { Fault, MODEL_LIMITS } from "@vidro/core";
import type { Config } from "../config.ts";

/* A key that can be had anew: from a file that changes, or from a command that prints one. */

/** Reads the key of `model_key_file` or `model_key_command`, and again when a server refuses it. */
export class KeySource {
  /** Where the key comes from, for people. */
  readonly words: string;
  readonly #read: () => Promise<string>;
  #current: Promise<string> | undefined;
  /** Keys that were read, the newest last. */
  #keys: readonly string[] = [];

  constructor(words: string, read: () => Promise<string>) {
    this.words = words;
    this.#read = read;
  }

  /** Keys that were read so far, which must not be kept or shown. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  /** The key, read at its first use; MODEL_KEY_MISSING when there is none. */
  current(): Promise<string> {
    this.#current ??= this.#readOnce();
    return this.#current;
  }

  /** Reads the key again, once for all who were refused with the same one; whether it is another key now. */
  async renew(refused: string): Promise<boolean> {
    if ((await this.current()) === refused) {
      this.#current = this.#readOnce();
      return (await this.current()) !== refused;
    }
    return true;
  }

  #readOnce(): Promise<string> {
    const reading = this.#read().then((text) => {
      const key = text.trim();
      if (key === "") throw new Fault("MODEL_KEY_MISSING", `${this.words} gave no key: nothing is there.`);
      if (!this.#keys.includes(key)) this.#keys = [...this.#keys, key].slice(-MODEL_LIMITS.readKeys);
      return key;
    });
    reading.catch(() => {
      if (this.#current === reading) this.#current = undefined;
    });
    return reading;
  }
}

const SOURCES = new WeakMap<Config, KeySource>();

/** The source of the general key, the same for all models of a configuration; undefined when it is none of these two. */
export function keySourceOf(config: Config): KeySource | undefined {
  const known = SOURCES.get(config);
  if (known !== undefined) return known;
  const [file, command] = [config.get("model_key_file"), config.get("model_key_command")];
  if (config.get("model_key") !== undefined || (file === undefined && command === undefined)) return undefined;
  const source =
    file === undefined
      ? new KeySource("The command of model_key_command", () => printedBy(command ?? ""))
      : new KeySource(`The file ${file}`, () => contentOf(file));
  SOURCES.set(config, source);
  return source;
}

async function contentOf(file: string): Promise<string> {
  try {
    // Without O_NONBLOCK, opening a pipe that nothing writes to would never end, and with it every run.
    await using opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await opened.stat();
    if (!found.isFile() || found.size > MODEL_LIMITS.keyBytes)
      throw new Error(
        `${file} must be a file of at most ${MODEL_LIMITS.keyBytes} bytes; model_key_command runs a program`,
      );
    return await opened.readFile("utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Fault("MODEL_KEY_MISSING", `The key file cannot be read: ${why}`, { cause });
  }
}

/** What a command line prints; it is the operator's own, so that a shell reads it. */
function printedBy(command: string): Promise<string> {
  const options = {
    timeout: MODEL_LIMITS.keyCommandMs,
    maxBuffer: MODEL_LIMITS.keyBytes,
    killSignal: "SIGKILL",
  } as const;
  const [shell, flag] = process.platform === "win32" ? ["cmd.exe", "/c"] : ["/bin/sh", "-c"];
  return new Promise((resolve, reject) => {
    execFile(shell, [flag, command], options, (failure, stdout, stderr) => {
      if (failure === null) return resolve(stdout);
      const end = failure.killed === true ? "took too long or printed too much" : `ended with ${String(failure.code)}`;
      const words = stderr.trim().slice(-MODEL_LIMITS.keyErrorChars);
      reject(
        new Fault("MODEL_KEY_MISSING", `The command of model_key_command ${end}${words === "" ? "" : `: ${words}`}`),
      );
    });
  });
}
