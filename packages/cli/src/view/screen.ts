import type { WriteStream } from "node:tty";
import type { Entry, LiveEvent, QuestionAsked } from "@vidro/core";
import { entryLine, liveLine } from "./json-lines.ts";
import { say, writeLine } from "../program/output.ts";

/** Where a run is shown. */
export interface Screen {
  /** Shows an entry of the journal. */
  entry(entry: Entry): void;
  /** Takes in an entry without showing it: later entries refer to it. */
  recall(entry: Entry): void;
  /** Shows a question again before a person is asked it. */
  remind(question: QuestionAsked): void;
  /** Shows what is happening right now. */
  live(event: LiveEvent): void;
  /** Shows a note about the watching itself, such as what it waits for. */
  notice(words: string): void;
  /** Draws again what is redrawn: something in it has changed. */
  redraw(): void;
  /** Goes on with what is redrawn after the terminal was released for a question of a helper. */
  goOn(): void;
  /** Erases what is redrawn, so that others can write to the terminal until the next entry. */
  releaseTerminal(): void;
  /** Shows nothing more. */
  close(): void;
}

/** How much is shown. */
export interface Verbosity {
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** How a run is shown to a person; with `live`, rows are redrawn. */
export interface TerminalOptions extends Verbosity {
  /** The terminal, or stderr when there is none. */
  readonly stream: WriteStream;
  readonly live: boolean;
  /** The run's id. */
  readonly run: string;
  /** Whether the answer goes to stdout as it is, and not to the rows. */
  readonly isPiped: boolean;
  /** The row below all others, which a person writes while the run works; undefined when there is none. */
  readonly written?: ((columns: number) => string | undefined) | undefined;
}

/** A run as NDJSON on stdout. */
export function ndjsonScreen(run: string, { verbose }: Pick<Verbosity, "verbose">): Screen {
  return {
    entry: (entry) => writeLine(entryLine(run, entry)),
    recall: () => undefined,
    remind: () => undefined,
    live: (event) => {
      if (verbose) writeLine(liveLine(run, event, Date.now()));
    },
    // Notes are for people: stdout is the journal.
    notice: (words) => say(words),
    redraw: () => undefined,
    goOn: () => undefined,
    releaseTerminal: () => undefined,
    close: () => undefined,
  };
}
