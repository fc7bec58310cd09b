import { stripVTControlCharacters } from "node:util";
import { OFFLINE_LIMITS } from "@vidro/core";

/** Output of a process, parsed from the text that a model gets. */
export interface ProcessText {
  readonly stdout: string;
  readonly stderr: string;
  /** Zero unless the text says otherwise. */
  readonly exitCode: number;
  readonly signal?: string;
  readonly timedOut: boolean;
}

/** Parses the text of a process: its output, its errors, and how it ended. */
export function readOutput(text: string): ProcessText {
  const [, exit, signal] = /\n?\[(?:exit code (-?\d+)|ended by (\w+))\]\s*$/.exec(text) ?? [];
  const ended = exit === undefined && signal === undefined ? text : text.slice(0, text.lastIndexOf("["));
  const timedOut = /\[timed out after \d+ ms\]\s*$/.test(ended);
  const streams = timedOut ? ended.slice(0, ended.lastIndexOf("[timed out")) : ended;
  const at = streams.startsWith("[stderr]\n") ? 0 : streams.lastIndexOf("\n[stderr]\n");
  const stdout = at < 0 ? streams : streams.slice(0, at);
  const stderr = at < 0 ? "" : streams.slice(at).replace(/^\n?\[stderr\]\n/, "");
  const result = { stdout: stdout.trimEnd(), stderr: stderr.trimEnd(), exitCode: Number(exit ?? 0), timedOut };
  return signal === undefined ? result : { ...result, signal };
}

/** The lines of a text that are not blank. */
export function outputLines(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

/**
 * A piece of output as an answer shows it: its beginning or its end, behind a bar that tells it from the answer's
 * words.
 */
export function quote(text: string, part: "head" | "tail" = "head"): string {
  const lines = stripVTControlCharacters(text).trimEnd().split(/\r?\n/);
  const kept = part === "head" ? lines.slice(0, OFFLINE_LIMITS.quotedLines) : lines.slice(-OFFLINE_LIMITS.quotedLines);
  const whole = kept.join("\n");
  const shown = part === "head" ? whole.slice(0, OFFLINE_LIMITS.quotedChars) : whole.slice(-OFFLINE_LIMITS.quotedChars);
  const isCut = shown.length < whole.length || kept.length < lines.length;
  const marked = !isCut ? shown : part === "head" ? `${shown}\n…` : `…\n${shown}`;
  return marked
    .split("\n")
    .map((line) => `    │ ${line.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")}`.trimEnd())
    .join("\n");
}
