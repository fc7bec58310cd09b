import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, TERMINAL_LIMITS } from "@vidro/core";
import { toTerminal } from "./control-sequences.ts";
import { peopleStream, prompt as show } from "../program/output.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** Reads one key, or a whole line when it arrives at once. */
export async function readKey(prompt: string, signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  // Before the prompt, or an early key would be echoed.
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
        reject(inputClosed());
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

/** Discards keys that were typed before the question was shown. */
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

/** Reads a line, or several that were pasted at once; undefined at the end of input. */
export function readWords(
  prompt: string,
  signal: AbortSignal,
  { history = [], prefill = "" }: { readonly history?: readonly string[]; readonly prefill?: string } = {},
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    let isOpen = true;
    const reader = createInterface({
      input: process.stdin,
      output: peopleStream(),
      terminal: true,
      history: [...history],
      removeHistoryDuplicates: true,
      prompt: toTerminal(prompt),
    });
    const leave = (): void => reader.close();
    const showAgain = (): void => {
      if (isOpen) reader.prompt();
    };
    signal.addEventListener("abort", leave);
    // After the listeners that were there before and may have printed.
    process.on("SIGINT", showAgain);
    reader.on("line", (line) => {
      // The lines of one paste arrive in one turn of the event loop and are one text.
      if (lines.push(line) === 1) setImmediate(() => reader.close());
    });
    reader.on("SIGINT", () => {
      if (reader.line === "") return interrupt();
      show("\n");
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
    });
    reader.on("close", () => {
      signal.removeEventListener("abort", leave);
      isOpen = false;
      process.off("SIGINT", showAgain);
      if (signal.aborted) reject(inputClosed());
      else resolve(lines.length === 0 ? undefined : lines.join("\n"));
    });
    reader.prompt();
    if (prefill !== "") reader.write(prefill);
  });
}

/** Raw input delivers Ctrl-C as a character; this sends the signal instead. */
function interrupt(): void {
  process.kill(process.pid, "SIGINT");
}

function ignore(chunk: Buffer): void {
  if (chunk.includes(CTRL_C)) interrupt();
}

function inputClosed(): Fault {
  return new Fault("CONFLICT", "The question is closed.");
}
