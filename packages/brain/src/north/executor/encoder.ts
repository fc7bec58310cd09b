import { EXECUTOR_LIMITS, FAULTS, isObject, outcomeText, SECOND_MS } from "@vidro/core";
import { headAndTail, voidsWords } from "@vidro/core/run";
import { actionWords, eventSentence } from "@vidro/core/text";
import type {
  Action,
  Entry,
  Event,
  EventType,
  JsonObject,
  LiveEvent,
  Outcome,
  PolicyJudged,
  ToolSpec,
} from "@vidro/core";
import { toolCallOf } from "@vidro/core/wire/executor-ws";
import type { ExecutorMessage } from "@vidro/core/wire/executor-ws";
import { isLook, nextLook } from "@vidro/core/run";
import type { Look, LookTexts } from "@vidro/core/run";
import { bootstrapContext } from "./bootstrap-context.ts";

/** An open question of the run, as the person at the executor can answer it. */
export interface ExecutorQuestion {
  readonly id: string;
  /** The action to approve, when the question is about one. */
  readonly approves: string | undefined;
  readonly options: readonly string[];
}

type EventOf = { readonly [Kind in EventType]: Extract<Event, { type: Kind }> };
type Encoders = { readonly [Kind in EventType]: (event: EventOf[Kind], at: number) => readonly ExecutorMessage[] };

/**
 * Encodes a run as messages of 004. It takes every entry from the first on, and keeps from the journal what later
 * messages refer to.
 */
export class ExecutorEncoder {
  readonly #task: string;
  readonly #run: string;
  #step = 0;
  #tools: readonly ToolSpec[] = [];
  #planSteps = 0;
  #ended = 0;
  #action: Action | undefined;
  #judged: PolicyJudged | undefined;
  #openQuestion: ExecutorQuestion | undefined;
  readonly #changed = new Set<string>();
  readonly #outcomes = new Map<Look, Outcome>();
  #texts: LookTexts | undefined = {};

  constructor(run: string, task: string) {
    this.#run = run;
    this.#task = task;
  }

  /** The id of the step that the run is in. */
  get generation(): string {
    return `${this.#run}:${this.#step}`;
  }

  /** The id of the latest action. */
  get action(): string | undefined {
    return this.#action?.id;
  }

  /** The question that has no answer yet. */
  get openQuestion(): ExecutorQuestion | undefined {
    return this.#openQuestion;
  }

  /** The messages of an entry. */
  encode({ event, at, seq }: Entry): readonly ExecutorMessage[] {
    const encode = this.#encoders[event.type] as (event: Event, at: number) => readonly ExecutorMessage[];
    return encode(event, at).map((message) => ({ ...message, seq }));
  }

  /** The messages of a live event; the output of a command came from the executor itself and is not sent back, and the wire has no word for thinking. */
  encodeLive(event: LiveEvent): readonly ExecutorMessage[] {
    if (event.type !== "model.delta") return [];
    return [{ type: "agent_message_delta", payload: { generation_id: this.generation, content: event.text } }];
  }

  readonly #encoders: Encoders = {
    "run.started": ({ tools }) => {
      this.#tools = tools;
      return this.#status("started", "Looking around.");
    },
    "intent.analyzed": ({ decision }) => this.#status("running", decision),
    "model.called": ({ step }) => {
      this.#step = step;
      return this.#status("thinking", "The model decides.");
    },
    "model.replied": ({ action }) => {
      this.#action = action;
      this.#judged = undefined;
      return [];
    },
    "model.failed": ({ fault }) => this.#status("healing", fault.message, VOIDS),
    "plan.made": ({ steps }) => {
      this.#planSteps = steps.length;
      return this.#status("planning", steps.join("\n"), { plan: steps });
    },
    "note.observed": ({ note }) => this.#status("running", note),
    "knowledge.committed": ({ title }) => this.#status("running", title),
    "tool.proposed": ({ tool }) => this.#status("running", `The tool ${tool.name} is proposed.`),
    "context.compacted": () => [],
    "question.asked": (event, at) => this.#question(event, at),
    "question.answered": ({ answer }) => this.#status("running", `Answered: ${answer}`, this.#closeQuestion()),
    "remark.made": (event) => this.#status("running", eventSentence(event)),
    "policy.judged": (event) => {
      this.#judged = event;
      return [];
    },
    "action.started": ({ action }) => {
      this.#action = action;
      return this.#status("running", actionWords(action));
    },
    "action.finished": ({ outcome }) => this.#encodeEnd(outcome),
    "action.failed": ({ fault }) =>
      this.#afterLook(undefined, this.#status("running", fault.message, this.#closeQuestion())),
    "action.unknown": ({ fault }) => this.#status("waiting", fault.message),
    "heal.tried": (event) => this.#status("healing", event.description, voidsWords(event) ? VOIDS : {}),
    "run.finished": ({ result }) =>
      this.#encodeCompletion("completed", typeof result === "string" ? result : JSON.stringify(result)),
    "run.failed": ({ fault }) =>
      this.#encodeCompletion("failed", `${FAULTS[fault.code].says} ${fault.message}`, fault.code),
    "run.aborted": ({ reason }) => this.#encodeCompletion("aborted", reason),
  };

  #status(status: string, current: string, more: JsonObject = {}): readonly ExecutorMessage[] {
    const all = Math.max(this.#planSteps, this.#ended + 1);
    const payload = { status, progress: Math.round((100 * this.#ended) / all) / 100, current_action: current, ...more };
    return [{ type: "status_update", payload }];
  }

  #question(
    { id, about, text, options, expiresAt }: EventOf["question.asked"],
    at: number,
  ): readonly ExecutorMessage[] {
    const approves = about.kind === "approval" ? about.action : undefined;
    this.#openQuestion = { id, approves, options };
    if (about.kind === "approval" && this.#action !== undefined)
      return [{ type: "tool_call_request", payload: approvalPayload(this.#action, this.#judged, text) }];
    const timeout = Math.max(0, Math.round((expiresAt - at) / SECOND_MS));
    const payload = { input_request_id: id, question: text, options, timeout_seconds: timeout };
    return [{ type: "input_request", payload }];
  }

  /** Closes the open question: it was answered, or the outcome that it asked about became known. */
  #closeQuestion(): JsonObject {
    const open = this.#openQuestion;
    this.#openQuestion = undefined;
    return open === undefined ? {} : { closed_request_id: open.approves ?? open.id };
  }

  #encodeEnd(outcome: Outcome): readonly ExecutorMessage[] {
    const action = this.#action;
    this.#ended += 1;
    for (const path of action === undefined ? [] : pathsOf(action, outcome))
      if (this.#changed.size < EXECUTOR_LIMITS.filesChanged) this.#changed.add(path);
    const words = action === undefined ? "" : `${actionWords(action)}: done`;
    return this.#afterLook(outcome, this.#status("running", words, this.#closeQuestion()));
  }

  /** Adds the end of a bootstrap look; behind the last one, the message with the whole context [004-10]. */
  #afterLook(outcome: Outcome | undefined, messages: readonly ExecutorMessage[]): readonly ExecutorMessage[] {
    const action = this.#action;
    if (this.#texts === undefined || action === undefined || !isLook(action)) return messages;
    const look = action.callId as Look;
    if (outcome !== undefined) this.#outcomes.set(look, outcome);
    this.#texts = { ...this.#texts, [look]: outcome === undefined ? "" : outcomeText(outcome) };
    if (nextLook(this.#texts, this.#tools) !== undefined) return messages;
    this.#texts = undefined;
    const context = { ...bootstrapContext(this.#outcomes) };
    return [...messages, { type: "bootstrap_finished", payload: { generation_id: this.generation, context } }];
  }

  #encodeCompletion(final: string, summary: string, code?: string): readonly ExecutorMessage[] {
    this.#openQuestion = undefined;
    const payload = {
      task_id: this.#task,
      final_status: final,
      summary: headAndTail(summary, EXECUTOR_LIMITS.summaryChars),
      files_changed: [...this.#changed],
      ...(code === undefined ? {} : { code }),
    };
    return [{ type: "task_completed", payload }];
  }
}

/** Marks the words that were streamed in this step as no part of any reply. */
const VOIDS: JsonObject = { voids: "agent_message_delta" };
/** Tools whose input has the path of the file that they change. */
const WRITERS: ReadonlySet<string> = new Set(["write_file", "edit", "file_apply"]);

/** The files that an action changed: the one in its input, or those of a patch of several files in its outcome. */
function pathsOf({ tool, input }: Action, outcome: Outcome): readonly string[] {
  const path = input["file_path"] ?? input["path"];
  if (WRITERS.has(tool)) return typeof path === "string" ? [path] : [];
  const data = tool === "apply_patch" && outcome.kind === "value" ? outcome.data : undefined;
  const files = isObject(data) && Array.isArray(data["files"]) ? data["files"] : [];
  return files.flatMap((file) => (isObject(file) && typeof file["path"] === "string" ? [file["path"]] : []));
}

function approvalPayload(action: Action, judged: PolicyJudged | undefined, preview: string): JsonObject {
  const { tool_name, parameters } = toolCallOf(action);
  return {
    tool_call_id: action.id,
    tool_name,
    arguments: parameters,
    risk_level: judged?.verdict.class ?? "code-exec",
    requires_approval: true,
    preview,
  };
}
