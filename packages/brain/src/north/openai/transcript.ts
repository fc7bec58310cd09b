import { CATALOG_LIMITS, outcomeText } from "@vidro/core";
import { headAndTail } from "@vidro/core/run";
import type {
  Action,
  Event,
  EventType,
  FaultReport,
  Json,
  JsonObject,
  ModelReplied,
  RunHead,
  TerminalEvent,
} from "@vidro/core";
import { endText } from "@vidro/core/run";
import type { Runs } from "../../run/runs.ts";
import { endsTurn, questionText } from "../question-words.ts";
import { AnswerText } from "./answer.ts";
import { readEntries } from "./questions.ts";

/** The messages of a thread in the chat wire's format, oldest first; those beyond the bounds are left out. */
export async function transcript(runs: Runs, thread: string, owner: string): Promise<readonly JsonObject[]> {
  const told: (readonly JsonObject[])[] = [];
  let chars = 0;
  for (const head of await runs.list({ thread, owner, limit: CATALOG_LIMITS.threadRuns })) {
    const messages = await runMessages(runs, head);
    chars += JSON.stringify(messages).length;
    if (chars > CATALOG_LIMITS.threadChars && told.length > 0) break;
    told.push(messages);
  }
  return told.reverse().flat();
}

/** The messages of one run up to the entry that its head names. */
export async function runMessages(runs: Runs, head: RunHead): Promise<readonly JsonObject[]> {
  const run = new RunTranscript(head.id);
  const messages: JsonObject[] = [];
  for await (const { event } of readEntries(runs, head)) messages.push(...run.messages(event));
  return messages;
}

type MessageEncoders = {
  readonly [Type in EventType]: (event: Extract<Event, { type: Type }>) => readonly JsonObject[];
};

const nothing = (): readonly JsonObject[] => [];

/**
 * Turns one run into messages; it keeps the open question, since an answer alone does not say what it answers. A
 * message that ended a turn has all text of the turn, as its caller got it; calls before it have no text.
 */
class RunTranscript {
  #words = new AnswerText();
  /** The tools whose calls end a turn. */
  #callers: ReadonlySet<string> = new Set();
  #call: Action | undefined;
  #asked: "words" | "call" | undefined;
  readonly #run: string;

  constructor(run: string) {
    this.#run = run;
  }

  readonly #tellers: MessageEncoders = {
    "run.started": ({ task, tools }) => {
      this.#callers = new Set(tools.flatMap(({ name, caller }) => (caller === true ? [name] : [])));
      return [{ role: "user", content: task }];
    },
    "model.replied": (event) => this.#encodeReply(event),
    "question.asked": (event) => {
      this.#asked = event.about.kind === "call" ? "call" : endsTurn(event) ? "words" : undefined;
      return this.#asked === "words" ? this.#encodeAnswer(questionText(event, this.#run)) : [];
    },
    "question.answered": ({ answer, by }) => {
      if (this.#asked === "call") return this.#encodeResult(by === undefined ? "(No answer in time.)" : answer);
      return this.#asked === "words" && by !== undefined ? [{ role: "user", content: answer }] : [];
    },
    "remark.made": ({ text }) => [{ role: "user", content: text }],
    "action.finished": ({ outcome }) => this.#encodeResult(outcomeText(outcome)),
    "action.failed": ({ fault }) => this.#encodeResult(faultText(fault)),
    "action.unknown": ({ fault }) => this.#encodeResult(faultText(fault)),
    "run.finished": (event) => this.#over(event),
    "run.failed": (event) => this.#over(event),
    "run.aborted": (event) => this.#over(event),
    "intent.analyzed": nothing,
    "model.called": nothing,
    "model.failed": nothing,
    "plan.made": nothing,
    "note.observed": nothing,
    "knowledge.committed": nothing,
    "tool.proposed": nothing,
    "context.compacted": nothing,
    "policy.judged": nothing,
    "action.started": nothing,
    "heal.tried": nothing,
  };

  messages(event: Event): readonly JsonObject[] {
    const tell = this.#tellers[event.type] as (event: Event) => readonly JsonObject[];
    return tell(event);
  }

  /** A reply without a call becomes part of what follows: an end, a question, or further work. */
  #encodeReply(event: ModelReplied): readonly JsonObject[] {
    const { action, refusal } = event;
    this.#call = action;
    this.#words.add({ event });
    if (action === undefined) return [];
    const called = { name: action.tool, arguments: JSON.stringify(action.input) };
    const calls: Json = [{ id: action.id, type: "function", function: called }];
    const isForCaller = refusal === undefined && this.#callers.has(action.tool);
    const words = isForCaller ? this.#turn() : "";
    return [{ role: "assistant", content: words === "" ? null : words, tool_calls: calls }];
  }

  #over(event: TerminalEvent): readonly JsonObject[] {
    return this.#encodeAnswer(endText(event));
  }

  #encodeAnswer(text: string): readonly JsonObject[] {
    return [{ role: "assistant", content: this.#turn(text) }];
  }

  /** The text of the turn that ends with `text`. */
  #turn(text?: string): string {
    const all = this.#words.wholeText(text);
    this.#words = new AnswerText();
    return all;
  }

  #encodeResult(content: string): readonly JsonObject[] {
    if (this.#call === undefined) return [];
    return [{ role: "tool", tool_call_id: this.#call.id, content: headAndTail(content, CATALOG_LIMITS.outcomeChars) }];
  }
}

function faultText({ code, message }: FaultReport): string {
  return `${code}: ${message}`;
}
