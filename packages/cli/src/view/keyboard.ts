import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, TERMINAL_LIMITS } from "@vidro/core";
import { toTerminal } from "./control-sequences.ts";
import { print, prompt as show } from "../program/output.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** What a person strikes when they are asked: a key, or a whole line when it came at once. */
export async function readKey(prompt: string, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  // Before the prompt: a quick key would be echoed otherwise.
  stdin.setRawMode(true);
  show(prompt);
  try {
    return await new Promise<string>((resolve, reject) => {
      const stop = (): void => {
        stdin.off("data", hear);
        signal.removeEventListener("abort", leave);
        stdin.pause();
      };
      const hear = (chunk: Buffer): void => {
        const text = chunk.toString("utf8");
        if (text.includes(CTRL_C)) return interrupt();
        stop();
        resolve(text.replaceAll(CTRL_D, ""));
      };
      const leave = (): void => {
        stop();
        reject(closed());
      };
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave);
      stdin.on("data", hear);
      stdin.resume();
    });
  } finally {
    stdin.setRawMode(false);
  }
}

/** Throws away what was typed before anything was asked: it is no answer to what comes. */
export async function dropStrayKeys(): Promise<void> {
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.on("data", ignore);
  stdin.resume();
  await sleep(TERMINAL_LIMITS.strayKeysMs);
  stdin.off("data", ignore);
  stdin.pause();
  stdin.setRawMode(false);
}

/** A line that a person types, or several that were pasted at once; undefined when they end the input. */
export function readWords(
  prompt: string,
  signal: AbortSignal,
  history: readonly string[] = [],
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    const reader = createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal: true,
      history: [...history],
      removeHistoryDuplicates: true,
      prompt: toTerminal(prompt),
    });
    const leave = (): void => reader.close();
    signal.addEventListener("abort", leave);
    reader.on("line", (line) => {
      // The lines of one paste come in one turn and are one text.
      if (lines.push(line) === 1) setImmediate(() => reader.close());
    });
    reader.on("SIGINT", () => {
      if (reader.line === "") return interrupt();
      print("");
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
    });
    reader.on("close", () => {
      signal.removeEventListener("abort", leave);
      if (signal.aborted) reject(closed());
      else resolve(lines.length === 0 ? undefined : lines.join("\n"));
    });
    reader.prompt();
  });
}

/** Raw input turns Ctrl-C into a letter; here it becomes the signal that everybody knows. */
function interrupt(): void {
  process.kill(process.pid, "SIGINT");
}

function ignore(chunk: Buffer): void {
  if (chunk.includes(CTRL_C)) interrupt();
}

function closed(): Fault {
  return new Fault("CONFLICT", "The question is closed.");
}
