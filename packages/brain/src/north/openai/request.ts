import { CHAT_LIMITS, Fault } from "@vidro/core";
import { isReservedTool } from "@vidro/core/run";
import type { JsonObject, Sampling, ToolChoice, ToolSpec, Turn } from "@vidro/core";
import { samplingOf } from "../sampling.ts";
import { FUNCTION_NAME } from "./schema.ts";
import type { ChatCall, ChatFunction, ChatMessage, ChatRequest } from "./schema.ts";
import { callsOf, messageText, messageTurns } from "./turns.ts";

/** The form of tool calls that the caller uses, present or earlier; the answer has the same. */
export type Form = "tools" | "functions";

/** A caller's result of a call of its own tool. */
export interface ReturnedResult {
  /** The id that we gave the call; the earlier form has none. */
  readonly callId: string | undefined;
  /** The call that the conversation says was made. */
  readonly call: ChatCall | undefined;
  readonly text: string;
  /** The whole conversation with this result: the history of a new run where the call was not ours. */
  readonly conversation: readonly Turn[];
}

/** A parsed request. */
export interface ChatInput {
  readonly form: Form;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Whether the client can remove text that a chunk declares void. */
  readonly includeVoided: boolean;
  /** System messages of the caller, appended to the agent's prompt. */
  readonly system: string;
  /** Turns before the task. */
  readonly earlier: readonly Turn[];
  /** The last message of the caller. */
  readonly task: string;
  /** Set when the request ends with the result of a call. */
  readonly returned: ReturnedResult | undefined;
  readonly callerTools: readonly ToolSpec[];
  /** Which tool the model must call: none, any, or a named one of the caller or the agent. */
  readonly choice: ToolChoice | undefined;
  /** Sampling parameters of the model. */
  readonly sampling: Sampling | undefined;
}

/** Parses a request; throws a Fault for what is not supported. */
export function readRequest(body: JsonObject): ChatInput {
  const request = body as unknown as ChatRequest;
  if ((request.n ?? 1) > 1) throw refused("BAD_REQUEST", "One answer is given to a request: n must be 1.", "/n");
  const { messages } = request;
  const index = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[index];
  const returned = returnedBy(messages);
  if (last === undefined && returned === undefined)
    throw refused("BAD_ARGUMENTS", "A request needs a message of the role user.", "/messages");
  const instructions = messages.flatMap((message, at) => (isSystem(message) ? [messageText(message, at)] : []));
  return {
    form: isEarlierForm(request) ? "functions" : "tools",
    stream: request.stream === true,
    includeUsage: request.stream_options?.include_usage === true,
    includeVoided: request.stream_options?.include_voided === true,
    system: instructions.join("\n\n"),
    earlier: messageTurns(messages.slice(0, Math.max(0, index))),
    task: last === undefined ? "" : messageText(last, index),
    returned,
    callerTools: callerTools(request),
    choice: choiceOf(request),
    sampling: samplingOf(
      { ...request, max_tokens: request.max_completion_tokens ?? request.max_tokens ?? null },
      Number.MAX_SAFE_INTEGER,
    ),
  };
}

function isSystem({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function isEarlierForm({ functions, function_call, tools, messages }: ChatRequest): boolean {
  return !tools && (Boolean(functions) || Boolean(function_call) || messages.at(-1)?.role === "function");
}

/** The result of a call that the conversation ends with. */
function returnedBy(messages: readonly ChatMessage[]): ReturnedResult | undefined {
  const last = messages.at(-1);
  if (last?.role !== "tool" && last?.role !== "function") return undefined;
  const asker = messages.findLastIndex(({ role }) => role === "assistant");
  const calls = asker === -1 ? [] : callsOf(messages[asker]!, asker);
  const callId = last.tool_call_id ?? undefined;
  const named = calls.find(({ id, name }) => (callId === undefined ? name === (last.name ?? name) : id === callId));
  const call = named ?? (last.name ? { name: last.name, arguments: "" } : undefined);
  return { callId, call, text: messageText(last, messages.length - 1), conversation: messageTurns(messages) };
}

function callerTools(request: ChatRequest): readonly ToolSpec[] {
  const tools = [
    ...(request.functions ?? []).map((each, index) => specOf(each, `/functions/${index}`)),
    ...(request.tools ?? []).flatMap(({ function: each }, index) => (each ? [specOf(each, `/tools/${index}`)] : [])),
  ];
  const twice = tools.find(({ name }, index) => tools.findIndex((tool) => tool.name === name) !== index);
  if (twice !== undefined)
    throw refused("BAD_ARGUMENTS", `Two functions are named ${twice.name}: leave one of them out.`, "/functions");
  return tools;
}

function choiceOf(request: ChatRequest): ToolChoice | undefined {
  const choice = request.tool_choice ?? request.function_call ?? "auto";
  if (choice === "none" || choice === "required") return choice;
  if (choice === "auto") return undefined;
  const tool = toolIn(choice, request);
  if (tool !== undefined) return { tool };
  const path = request.tool_choice ? "/tool_choice" : "/function_call";
  throw refused("BAD_ARGUMENTS", "What is to be called is none, auto, required, or one tool by its name.", path);
}

/** The tool that a choice names; only the earlier form writes the bare name. */
function toolIn(
  choice: NonNullable<ChatRequest["tool_choice"] | ChatRequest["function_call"]>,
  { tool_choice }: ChatRequest,
): string | undefined {
  if (typeof choice === "string") return tool_choice || !FUNCTION_NAME.test(choice) ? undefined : choice;
  return "name" in choice ? choice.name : choice.function?.name;
}

/** A caller's function as a tool; its schema is shown to models and never compiled. */
function specOf({ name, description, parameters }: ChatFunction, path: string): ToolSpec {
  if (isReservedTool(name))
    throw refused("BAD_ARGUMENTS", `A function cannot be named ${name}: every agent has that word for itself.`, path);
  const schema = parameters ?? { type: "object", properties: {} };
  if (JSON.stringify(schema).length > CHAT_LIMITS.schemaChars)
    throw refused(
      "PAYLOAD_TOO_LARGE",
      `The parameters of ${name} have more than ${CHAT_LIMITS.schemaChars} characters.`,
      path,
    );
  return { name, description: description ?? "", parameters: schema, idempotent: false };
}

function refused(code: "BAD_REQUEST" | "BAD_ARGUMENTS" | "PAYLOAD_TOO_LARGE", message: string, path: string): Fault {
  return new Fault(code, message, { detail: { path } });
}
