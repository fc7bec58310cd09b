import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@vidro/core";
import type { Entry, Event, Model, ModelCall, ModelReply, ModelRequest } from "@vidro/core";

/*
 * A scenario is a text file: what the person asks, what the model answers at each step, what the person answers, and
 * below a line of dashes the journal that comes of it, one line per entry. Tests compare; `UPDATE=1 npm test` rewrites,
 * and the difference is reviewed like any other.
 */

/** A scenario as it is written down. */
export interface Scenario {
  readonly path: string;
  readonly task: string;
  /** Files of the workspace, by name. */
  readonly files: { readonly [name: string]: string };
  readonly replies: readonly ModelReply[];
  readonly answers: readonly string[];
  /** The part above the dashes. */
  readonly source: string;
  readonly transcript: string;
}

const BREAK = "----\n";

/** Reads a scenario file. */
export function readScenario(path: string): Scenario {
  const [source = "", transcript = ""] = readFileSync(path, "utf8").split(BREAK);
  const said = (word: string): string[] =>
    source.split("\n").flatMap((line) => (line.startsWith(`${word}: `) ? [line.slice(word.length + 2)] : []));
  const files = Object.fromEntries(said("file").map((line) => line.split(" = ") as [string, string]));
  const replies = said("model").map((line, index) => replyOf(line, index));
  return { path, task: said("task").join("\n"), files, replies, answers: said("answer"), source, transcript };
}

/** Writes a scenario anew with the transcript that came of it. */
export function writeScenario(scenario: Scenario, transcript: string): void {
  writeFileSync(scenario.path, `${scenario.source}${BREAK}${transcript}`);
}

/** A reply written on one line: words, with `→ tool {input}` for each native call. */
function replyOf(line: string, index: number): ModelReply {
  const [text = "", ...calls] = line.split("→").map((part) => part.trim());
  return {
    model: "scripted",
    text: text.replaceAll("\\n", "\n"),
    calls: calls.map((call, nth): ModelCall => {
      const [tool = "", ...input] = call.split(" ");
      const words = input.join(" ");
      return { id: `call_${index}_${nth}`, tool, input: words === "" ? {} : (JSON.parse(words) as ModelCall["input"]) };
    }),
    usage: { inputTokens: 10, outputTokens: 5 },
  };
}

/** A model that follows the scenario: which reply is next is read off the conversation, so a resumed run goes on. */
export function scriptedModel(replies: readonly ModelReply[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    name: "scripted",
    requests,
    async *call(request) {
      requests.push(request);
      const reply = replies[request.turns.filter((turn) => turn.role === "assistant").length];
      if (reply === undefined)
        yield { type: "failed", fault: { code: "MODEL_REFUSED", message: "The script is over." } };
      else {
        yield { type: "delta", text: reply.text };
        yield { type: "replied", reply };
      }
    },
  };
}

/** Makes the workspace of a scenario in a folder. */
export function makeWorkspace(scenario: Scenario, folder: string): string {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  for (const [name, text] of Object.entries(scenario.files))
    writeFileSync(join(workspace, name), text.replaceAll("\\n", "\n"));
  return realpathSync(workspace);
}

/** The journal as lines that are the same in every run: ids by number, no times, no hashes, no paths of this machine. */
export function transcriptOf(entries: readonly Entry[], workspace: string): string {
  const ids = new Map<string, string>();
  const named = (text: string): string =>
    text.replaceAll(/act_[0-9a-f-]{36}/g, (id) => {
      const name = ids.get(id) ?? `act#${ids.size + 1}`;
      ids.set(id, name);
      return name;
    });
  const lines = entries.map(({ seq, event }) => {
    const { type, ...body } = told(event);
    return named(`${seq} ${type} ${JSON.stringify(body)}`)
      .replaceAll(workspace, "{workspace}")
      .replaceAll(/"(q\d+)_run_[\w-]+"/g, '"$1"');
  });
  return `${lines.join("\n")}\n`;
}

/** The fields of an event that a reader of a transcript cares for. */
function told(event: Event): { readonly type: string; readonly [field: string]: unknown } {
  switch (event.type) {
    case "run.started":
      return { type: event.type, task: event.task };
    case "policy.judged":
      return { type: event.type, action: event.action, decision: event.verdict.decision, rule: event.verdict.rule };
    case "question.asked":
      return { type: event.type, id: event.id, about: event.about.kind, options: event.options };
    case "action.finished": {
      const { outcome } = event;
      if (outcome.kind === "value") return { type: event.type, action: event.action, text: outcome.text };
      return { type: event.type, action: event.action, exitCode: outcome.exitCode, stdout: outcome.stdout.text };
    }
    case "model.replied": {
      const { type, text, action, answer, question, told: back, refusal } = event;
      return { type, text, action, answer, question, told: back, refusal };
    }
    case "heal.tried":
      return { type: event.type, healing: event.healing, attempt: event.attempt };
    default:
      return isObject(event) ? event : { type: "?" };
  }
}
