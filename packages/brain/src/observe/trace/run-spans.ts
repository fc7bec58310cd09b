import { addUsage, usageIn } from "@vidro/core";
import type { Entry, Event, FaultReport, ModelCalled, RunStarted, Usage } from "@vidro/core";
import type { TraceSpan, SpanAttributes } from "@vidro/core/trace";
import { modelKey } from "./model-key.ts";
import { spanIdOf, traceOf } from "./span-ids.ts";

/** A span that has begun. */
interface OpenSpan {
  readonly key: string;
  readonly parent: string;
  readonly name: string;
  readonly kind: TraceSpan["kind"];
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
}

/** What can be under way in a run at one time. */
type SpanPlace = "step" | "model" | "action" | "question";

/** What is known of a span when it ends. */
interface SpanEnd {
  readonly attributes?: SpanAttributes;
  readonly fault?: FaultReport | undefined;
}

const ROOT = "run";

/**
 * The spans of one run, as a fold of its journal: `invoke_agent` for the run, a span for each step, and below it `chat`
 * for a call of the model, `execute_tool` for an action, and one while a person is asked. Their ids follow from the run
 * and its entries, so that every process that reads the journal gives the same spans.
 */
export class RunSpans {
  readonly #run: string;
  readonly #give: (span: TraceSpan) => void;
  #started: RunStarted | undefined;
  #startedAt = 0;
  readonly #open = new Map<SpanPlace, OpenSpan>();
  #used: Usage = { inputTokens: 0, outputTokens: 0 };

  constructor(run: string, give: (span: TraceSpan) => void) {
    this.#run = run;
    this.#give = give;
  }

  /** Takes the next entry; gives the spans that end with it. */
  take({ at, event }: Entry): void {
    const usage = usageIn(event);
    if (usage !== undefined) this.#used = addUsage(this.#used, usage);
    switch (event.type) {
      case "run.started":
        [this.#started, this.#startedAt] = [event, at];
        return;
      case "model.called":
        return this.#beginModel(event, at);
      case "model.replied":
        return this.#end("model", at, {
          attributes: { "gen_ai.response.model": event.model, ...usageAttributes(event.usage) },
        });
      case "context.compacted":
        return this.#end("model", at, { attributes: usageAttributes(event.usage), fault: event.fault });
      case "model.failed":
        return this.#end("model", at, { fault: event.fault });
      case "action.started":
        return this.#begin("action", at, {
          key: `action:${event.action.id}`,
          name: `execute_tool ${event.action.tool}`,
          kind: "client",
          attributes: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.action.tool,
            "gen_ai.tool.call.id": event.action.id,
            "gen_ai.tool.type": "function",
            "vidro.hand.id": event.hand,
          },
        });
      case "action.finished":
        return this.#end("action", at);
      case "action.failed":
      case "action.unknown":
        return this.#end("action", at, { fault: event.fault });
      case "question.asked":
        return this.#begin("question", at, {
          key: `question:${event.id}`,
          name: "ask a person",
          kind: "internal",
          attributes: { "vidro.question.kind": event.about.kind },
        });
      case "question.answered":
        return this.#end("question", at);
      case "run.finished":
      case "run.failed":
      case "run.aborted":
        return this.#endRun(event, at);
      default:
    }
  }

  #beginModel({ step, attempt, summary }: ModelCalled, at: number): void {
    if (attempt === 1 && summary !== true) {
      this.#end("step", at);
      const about = { key: `step:${step}`, name: `step ${step}`, kind: "internal" } as const;
      this.#begin("step", at, { ...about, attributes: { "vidro.step": step } });
    }
    const model = this.#started?.model ?? "";
    this.#begin("model", at, {
      key: modelKey({ step, attempt, summary }),
      name: `chat ${model}`,
      kind: "client",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providerOf(model),
        "gen_ai.request.model": model,
        "vidro.attempt": attempt,
      },
    });
  }

  #begin(what: SpanPlace, at: number, about: Omit<OpenSpan, "parent" | "startedAt">): void {
    const parent = what === "step" ? ROOT : (this.#open.get("step")?.key ?? ROOT);
    this.#open.set(what, { ...about, parent, startedAt: at });
  }

  #end(what: SpanPlace, at: number, { fault, ...more }: SpanEnd = {}): void {
    const open = this.#open.get(what);
    if (open === undefined) return;
    this.#open.delete(what);
    this.#finish({ ...open, attributes: { ...open.attributes, ...more.attributes } }, at, fault);
  }

  #endRun(event: Extract<Event, { type: "run.finished" | "run.failed" | "run.aborted" }>, at: number): void {
    const fault: FaultReport | undefined = event.type === "run.failed" ? event.fault : undefined;
    for (const what of ["model", "action", "question", "step"] as const) this.#end(what, at, { fault });
    const { agent, thread, model } = this.#started ?? { agent: "", thread: "", model: "" };
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": providerOf(model),
      "gen_ai.agent.name": agent,
      "gen_ai.conversation.id": thread,
      "gen_ai.request.model": model,
      "vidro.run.id": this.#run,
      "vidro.run.status": event.type.slice("run.".length),
      ...usageAttributes(this.#used),
    };
    const root = { key: ROOT, parent: "", name: `invoke_agent ${agent}`, kind: "internal", attributes } as const;
    this.#finish({ ...root, startedAt: this.#startedAt }, at, fault);
  }

  #finish({ key, parent, name, kind, startedAt, attributes }: OpenSpan, endedAt: number, fault?: FaultReport): void {
    if (this.#started === undefined) return;
    const { traceId, parentId } = traceOf(this.#run, this.#started);
    const above = parent === "" ? parentId : spanIdOf(this.#run, parent);
    this.#give({
      traceId,
      spanId: spanIdOf(this.#run, key),
      ...(above === undefined ? {} : { parentId: above }),
      name,
      kind,
      startedAt,
      endedAt,
      attributes: fault === undefined ? attributes : { ...attributes, "error.type": fault.code },
      ...(fault === undefined ? {} : { error: fault.message }),
    });
  }
}

/** The vendor in the name of a model, as `openai` in `openai/gpt-5`. */
function providerOf(model: string): string {
  return model.includes("/") ? (model.split("/")[0] ?? "vidro") : "vidro";
}

function usageAttributes(usage: Usage | undefined): SpanAttributes {
  if (usage === undefined) return {};
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage;
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    "gen_ai.usage.cache_read.input_tokens": cachedTokens,
    "gen_ai.usage.cache_creation.input_tokens": cacheWriteTokens,
  };
}
