import { oneLine } from "@vidro/core/text";
import { columnsOf } from "./columns.ts";
import type { Key } from "./keys.ts";
import { LineEditor } from "./line-editor.ts";
import { sendInterrupt, terminalInput } from "./terminal-input.ts";

/** A line that a person writes while a run works. */
export interface RemarkLine {
  /** What is written so far, as a row; undefined when nothing is. */
  row(columns: number): string | undefined;
  /** Takes the keyboard back; gives what was written and not sent. */
  end(): string;
}

const PROMPT = "› ";

/** Reads lines from the keyboard and passes each on; `changed` is called when the row has to be drawn again. */
export function openRemarkLine(say: (text: string) => void, changed: () => void): RemarkLine {
  const editor = new LineEditor();
  const hear = (key: Key): void => {
    if (key.name === "interrupt") return sendInterrupt();
    if (key.name === "enter") {
      if (!editor.endsWithEnter()) return changed();
      const text = editor.state.text.trim();
      editor.clear();
      if (text !== "") say(text);
    } else editor.press(key);
    changed();
  };
  const forget = terminalInput.listen(hear, () => editor.state.text !== "");
  return {
    row(columns) {
      const { text } = editor.state;
      if (text === "") return undefined;
      const line = oneLine(text.replaceAll("\n", " ⏎ "), text.length * 3 + 1);
      return `${PROMPT}${endOfLine(line, columns - PROMPT.length - 1)}`;
    },
    end() {
      forget();
      return editor.state.text;
    },
  };
}

/** The end of a line in so many columns: what was written last is what a person looks at. */
function endOfLine(line: string, columns: number): string {
  if (columnsOf(line) <= columns) return line;
  const letters = Array.from(line);
  while (letters.length > 0 && columnsOf(letters.join("")) >= columns) letters.shift();
  return `…${letters.join("")}`;
}
