import { isAbsolute, join } from "node:path";
import { ACP_LIMITS, outcomeText } from "@vidro/core";
import { actionWords } from "@vidro/core/text";
import type { Action, Entry, Json, JsonObject, LiveEvent } from "@vidro/core";

/** What an editor is shown of a run: the updates of each entry and live event, in order. */
export class RunUpdates {
  readonly #cwd: string;
  #plan: readonly string[] = [];
  /** The words of the reply that the editor has. */
  #said = "";
  #answer: string | undefined;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Updates of a live event: words and thoughts of the model as they come. */
  live(event: LiveEvent): readonly JsonObject[] {
    if (event.type === "model.thinking") return [chunk("agent_thought_chunk", event.text)];
    if (event.type !== "model.delta" || event.from !== this.#said.length) return [];
    this.#said += event.text;
    return [chunk("agent_message_chunk", event.text)];
  }

  /** Updates of an entry. */
  entry({ event }: Entry): readonly JsonObject[] {
    switch (event.type) {
      case "model.replied":
        return [...this.#reply(event.text), ...(event.action === undefined ? [] : [this.#toolCall(event.action)])];
      case "model.failed":
        // What the editor has of the reply is void; the next one begins on a line of its own.
        return this.#said === "" ? [] : [...this.#reply(""), chunk("agent_message_chunk", "\n")];
      case "plan.made":
        this.#plan = event.steps;
        return [this.#planUpdate("pending")];
      case "action.started":
        return [update(event.action.id, { status: "in_progress" })];
      case "action.finished":
        return [update(event.action, { status: "completed", content: [textContent(outcomeText(event.outcome))] })];
      case "action.failed":
      case "action.unknown":
        return [update(event.action, { status: "failed", content: [textContent(event.fault.message)] })];
      case "run.finished":
        return [...this.#end(event.result), ...(this.#plan.length === 0 ? [] : [this.#planUpdate("completed")])];
      case "run.failed":
        return [chunk("agent_message_chunk", `${event.fault.code}: ${event.fault.message}`)];
      default:
        return [];
    }
  }

  /** The rest of a reply whose beginning the editor may have. */
  #reply(text: string): readonly JsonObject[] {
    const said = this.#said;
    this.#said = "";
    this.#answer = text;
    if (text.startsWith(said)) return text === said ? [] : [chunk("agent_message_chunk", text.slice(said.length))];
    return text === "" ? [] : [chunk("agent_message_chunk", `\n${text}`)];
  }

  /** The answer, unless it was the last reply. */
  #end(result: Json): readonly JsonObject[] {
    const text = typeof result === "string" ? result : JSON.stringify(result);
    return text === this.#answer?.trim() || text === "" ? [] : [chunk("agent_message_chunk", text)];
  }

  #planUpdate(status: "pending" | "completed"): JsonObject {
    return {
      sessionUpdate: "plan",
      entries: this.#plan.map((content) => ({ content, priority: "medium", status })),
    };
  }

  #toolCall(action: Action): JsonObject {
    return { sessionUpdate: "tool_call", ...editorToolCall(action, this.#cwd), status: "pending" };
  }
}

/** A call of a tool as an editor shows it: with the place that it is about, and the change that it makes. */
export function editorToolCall(action: Action, cwd: string): JsonObject {
  const { id, tool, input } = action;
  const named = input["file_path"] ?? input["path"];
  const path = typeof named === "string" ? (isAbsolute(named) ? named : join(cwd, named)) : undefined;
  const change = path === undefined ? undefined : changeOf(action, path);
  return {
    toolCallId: id,
    title: actionWords(action),
    kind: KINDS[tool] ?? "other",
    rawInput: input,
    ...(path === undefined ? {} : { locations: [{ path }] }),
    ...(change === undefined ? {} : { content: [change] }),
  };
}

const KINDS: { readonly [tool: string]: string | undefined } = {
  __proto__: null as never,
  shell: "execute",
  command: "execute",
  read_file: "read",
  read_folder: "read",
  find_files: "search",
  search_text: "search",
  write_file: "edit",
  edit: "edit",
  apply_patch: "edit",
  file_apply: "edit",
  undo: "edit",
  web_fetch: "fetch",
  search_web: "fetch",
};

function changeOf({ tool, input }: Action, path: string): JsonObject | undefined {
  const { old_string: from, new_string: to, content } = input;
  if (tool === "edit" && typeof from === "string" && typeof to === "string")
    return { type: "diff", path, oldText: from, newText: to };
  if (tool === "write_file" && typeof content === "string")
    return { type: "diff", path, oldText: null, newText: content };
  return undefined;
}

/** A piece of a message. */
export function chunk(kind: string, text: string): JsonObject {
  return { sessionUpdate: kind, content: { type: "text", text } };
}

function update(toolCallId: string, fields: JsonObject): JsonObject {
  return { sessionUpdate: "tool_call_update", toolCallId, ...fields };
}

function textContent(text: string): JsonObject {
  return { type: "content", content: { type: "text", text: text.slice(0, ACP_LIMITS.outputChars) } };
}
