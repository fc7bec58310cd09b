import { styleText } from "node:util";
import { markControls } from "./control-sequences.ts";
import { isAsciiTerminal, terminalName } from "./terminal-kind.ts";

/** Colours as this terminal and NO_COLOR allow them. */
export function paint(
  style: Parameters<typeof styleText>[0],
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  const [before = "", after = ""] = styleText(style, HOLE, { stream }).split(HOLE);
  return `${markControls(before)}${text}${markControls(after)}`;
}

/** Paints text for one stream. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** A word in its colour, padded to a width; a word without a colour, as a newer brain may use, stays as it is. */
export function paintWord(
  colours: { readonly [word: string]: Parameters<typeof styleText>[0] },
  word: string,
  width = 0,
): string {
  const style = Object.hasOwn(colours, word) ? colours[word] : undefined;
  const padded = word.padEnd(width);
  return style === undefined ? padded : paint(style, padded);
}

/** Placeholder that `styleText` colours in place of the text. */
const HOLE = "x";

/** Symbols before lines. */
export interface TerminalSymbols {
  readonly task: string;
  readonly done: string;
  readonly failed: string;
  /** Not done: the policy or a person did not allow it, or no person could be asked. */
  readonly refused: string;
  /** Begun, and how it ended cannot be known. */
  readonly unknown: string;
  readonly now: string;
  readonly later: string;
  readonly heal: string;
  readonly ask: string;
  readonly note: string;
  readonly thought: string;
  readonly stop: string;
  readonly bar: string;
  /** Before a run that is below another one. */
  readonly below: string;
  readonly spinner: readonly string[];
}

const DRAWN: TerminalSymbols = {
  task: "▸",
  done: "✓",
  failed: "✗",
  refused: "⊘",
  unknown: "⁇",
  now: "◐",
  later: "○",
  heal: "↻",
  ask: "?",
  note: "·",
  thought: "~",
  stop: "■",
  bar: "│",
  below: "└",
  spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

const TYPED: TerminalSymbols = {
  task: ">",
  done: "+",
  failed: "x",
  refused: "!",
  unknown: "?",
  now: "*",
  later: "-",
  heal: "~",
  ask: "?",
  note: "-",
  thought: "~",
  stop: "#",
  bar: "|",
  below: "`-",
  spinner: ["-", "\\", "|", "/"],
};

/** The symbols that this terminal can show. */
export function terminalSymbols(): TerminalSymbols {
  const name = terminalName();
  return name === "dumb" || name === "linux" || isAsciiTerminal() ? TYPED : DRAWN;
}
