import { parseJson } from "../codec/json.ts";
import { lineSplitter } from "../codec/line-splitter.ts";
import { Fault } from "../fault.ts";
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { WORKER_LIMITS } from "../limits.ts";

/* What a model worker sends, as its client reads it: replies, and the stream of a generation. */

/** One line of a worker. */
export type WorkerLine =
  | { readonly type: "token"; readonly text: string }
  | { readonly type: "stop"; readonly fields: JsonObject }
  | { readonly type: "error"; readonly message: string; readonly code?: Json }
  | { readonly type: "reply"; readonly fields: JsonObject };

/** Reads the lines of a worker from bytes that come in any pieces. */
export interface WorkerLineDecoder {
  /** The lines that a chunk completes; MODEL_RUBBISH for one that is too long or not UTF-8. */
  push(chunk: Uint8Array): readonly WorkerLine[];
  /** The last line when nothing ended it. */
  end(): WorkerLine | undefined;
}

/** A decoder of the lines of a worker. */
export function workerLineDecoder(maxBytes: number = WORKER_LIMITS.lineBytes): WorkerLineDecoder {
  const splitter = lineSplitter(maxBytes, "lf");
  return {
    push(chunk) {
      const lines: WorkerLine[] = [];
      splitter.push(chunk, (bytes) => {
        if (bytes === undefined)
          throw new Fault("MODEL_RUBBISH", `The worker sent a line of more than ${maxBytes} bytes.`);
        lines.push(readLine(decodeText(bytes)));
      });
      return lines;
    },
    end() {
      const bytes = splitter.end();
      return bytes.length === 0 ? undefined : readLine(decodeText(bytes));
    },
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new Fault("MODEL_RUBBISH", "The worker sent a line that is not UTF-8.", { cause });
  }
}

/**
 * A line that is no message of this wire is text of the model, white space included [000-18]. An object among such
 * lines may be an action line, which stands on a line of its own; an empty line is a line break.
 */
function readLine(line: string): WorkerLine {
  const value = objectIn(line);
  if (value === undefined) return { type: "token", text: line === "" ? "\n" : line };
  const { type, text, message, error, code, ok } = value;
  if (type === "token" && typeof text === "string") return { type, text };
  if (type === "stop") return { type, fields: value };
  if (type === "error" || ok === false) {
    const words = [message, error].find((one) => typeof one === "string" && one !== "");
    const told = typeof words === "string" ? words.slice(0, WORKER_LIMITS.errorChars) : "no reason was given";
    return { type: "error", message: told, ...(code === undefined ? {} : { code }) };
  }
  return ok === true ? { type: "reply", fields: value } : { type: "token", text: `\n${line}\n` };
}

function objectIn(line: string): JsonObject | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const value = parseJson(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
