import { EXECUTOR_LIMITS, FAULTS, outcomeText } from "@vidro/core";
import { headAndTail, voidsWords } from "@vidro/core/run";
import { actionWords } from "@vidro/core/text";
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

/** A question of the run, as the executor's person can answer it. */
export interface OpenQuestion {
  readonly id: string;
  /** The action that is to be approved, when it is about one. */
  readonly approves: string | undefined;
  readonly options: readonly string[];
}

type EventOf = { readonly [Kind in EventType]: Extract<Event, { type: Kind }> };
type Tellers = { readonly [Kind in EventType]: (event: EventOf[Kind], at: number) => readonly ExecutorMessage[] };

/**
 * A run in the words of 004: takes every entry from the first on and gives what an executor is told of it. It keeps
 * what later messages refer to, and nothing that the journal does not say.
 */
export class Telling {
  readonly #task: string;
  readonly #run: string;
  #step = 0;
  #tools: readonly ToolSpec[] = [];
  #planSteps = 0;
  #ended = 0;
  #action: Action | undefined;
  #judged: PolicyJudged | undefined;
  #open: OpenQuestion | undefined;
  readonly #changed = new Set<string>();
  readonly #outcomes = new Map<Look, Outcome>();
  #seen: LookTexts | undefined = {};

  constructor(run: string, task: string) {
    this.#run = run;
    this.#task = task;
  }

  /** The turn of the loop that the run is in. */
  get generation(): string {
    return `${this.#run}:${this.#step}`;
  }

  /** The action that was ordered last. */
  get action(): string | undefined {
    return this.#action?.id;
  }

  /** The question that was asked last and has no answer yet. */
  get open(): OpenQuestion | undefined {
    return this.#open;
  }

  /** What an executor is told of an entry. */
  entry({ event, at, seq }: Entry): readonly ExecutorMessage[] {
    const tell = this.#tellers[event.type] as (event: Event, at: number) => readonly ExecutorMessage[];
    return tell(event, at).map((message) => ({ ...message, seq }));
  }

  /** What an executor is told while it happens; the output of a command is its own. */
  live(event: LiveEvent): readonly ExecutorMessage[] {
    if (event.type === "action.output") return [];
    return [{ type: "agent_message_delta", payload: { generation_id: this.generation, content: event.text } }];
  }

  readonly #tellers: Tellers = {
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
    "question.answered": ({ answer }) => this.#status("running", `Answered: ${answer}`, this.#closed()),
    "policy.judged": (event) => {
      this.#judged = event;
      return [];
    },
    "action.started": ({ action }) => {
      this.#action = action;
      return this.#status("running", actionWords(action));
    },
    "action.finished": ({ outcome }) => this.#finished(outcome),
    "action.failed": ({ fault }) => this.#looked(undefined, this.#status("running", fault.message, this.#closed())),
    "action.unknown": ({ fault }) => this.#status("waiting", fault.message),
    "heal.tried": (event) => this.#status("healing", event.description, voidsWords(event) ? VOIDS : {}),
    "run.finished": ({ result }) =>
      this.#completed("completed", typeof result === "string" ? result : JSON.stringify(result)),
    "run.failed": ({ fault }) => this.#completed("failed", `${FAULTS[fault.code].says} ${fault.message}`, fault.code),
    "run.aborted": ({ reason }) => this.#completed("aborted", reason),
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
    this.#open = { id, approves, options };
    if (about.kind === "approval" && this.#action !== undefined)
      return [{ type: "tool_call_request", payload: approvalOf(this.#action, this.#judged, text) }];
    const timeout = Math.max(0, Math.round((expiresAt - at) / SECOND_MS));
    const payload = { input_request_id: id, question: text, options, timeout_seconds: timeout };
    return [{ type: "input_request", payload }];
  }

  /** The question that was open is not any more: it was answered, or the truth came out by itself. */
  #closed(): JsonObject {
    const open = this.#open;
    this.#open = undefined;
    return open === undefined ? {} : { closed_request_id: open.approves ?? open.id };
  }

  #finished(outcome: Outcome): readonly ExecutorMessage[] {
    const action = this.#action;
    this.#ended += 1;
    if (action !== undefined && WRITERS.has(action.tool) && this.#changed.size < EXECUTOR_LIMITS.filesChanged) {
      const path = action.input["file_path"] ?? action.input["path"];
      if (typeof path === "string") this.#changed.add(path);
    }
    const words = action === undefined ? "" : `${actionWords(action)}: done`;
    return this.#looked(outcome, this.#status("running", words, this.#closed()));
  }

  /** A look of the bootstrap ended: when it was the last one, what was seen is told [004-10]. */
  #looked(outcome: Outcome | undefined, told: readonly ExecutorMessage[]): readonly ExecutorMessage[] {
    const action = this.#action;
    if (this.#seen === undefined || action === undefined || !isLook(action)) return told;
    const look = action.callId as Look;
    if (outcome !== undefined) this.#outcomes.set(look, outcome);
    this.#seen = { ...this.#seen, [look]: outcome === undefined ? "" : outcomeText(outcome) };
    if (nextLook(this.#seen, this.#tools) !== undefined) return told;
    this.#seen = undefined;
    const context = { ...bootstrapContext(this.#outcomes) };
    return [...told, { type: "bootstrap_finished", payload: { generation_id: this.generation, context } }];
  }

  #completed(final: string, summary: string, code?: string): readonly ExecutorMessage[] {
    this.#open = undefined;
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

const SECOND_MS = 1000;
/** The words of this turn of the loop are no part of any reply. */
const VOIDS: JsonObject = { voids: "agent_message_delta" };
/** Tools that name the file that they change. */
const WRITERS: ReadonlySet<string> = new Set(["write_file", "edit", "file_apply"]);

function approvalOf(action: Action, judged: PolicyJudged | undefined, words: string): JsonObject {
  const { tool_name, parameters } = toolCallOf(action);
  return {
    tool_call_id: action.id,
    tool_name,
    arguments: parameters,
    risk_level: judged?.verdict.class ?? "code-exec",
    requires_approval: true,
    preview: words,
  };
}
