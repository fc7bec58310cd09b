import { Fault, isObject } from "@vidro/core";
import type { FilePart, JsonObject, Sampling, Turn } from "@vidro/core";
import { samplingOf } from "../sampling.ts";
import { allowedTools, refusalAt, toolSpecs } from "./caller-tools.ts";
import type { CallerTool, ToolOffer } from "./caller-tools.ts";
import { CHAT_PARAMETERS, effortOf, formatOf, refuseParameters, vendorFields, verbosityOf } from "./parameters.ts";
import type { ChatCall, ChatMessage, ChatRequest } from "./schema.ts";
import { toolName } from "./tool-names.ts";
import { callsOf, messageFiles, messageText, messageTurns } from "./turns.ts";

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

/** A conversation as a client sends it: what was said before, and what is said now. */
export interface SentConversation {
  /** System messages of the caller, appended to the agent's prompt. */
  readonly system: string;
  /** Turns before the task. */
  readonly earlier: readonly Turn[];
  /** The last message of the caller. */
  readonly task: string;
  /** Its images. */
  readonly files?: readonly FilePart[];
  /** Set when the request ends with the result of a call. */
  readonly returned: ReturnedResult | undefined;
}

/** A client's request, the same for each wire. */
export interface TurnRequest extends SentConversation, ToolOffer {
  readonly stream: boolean;
  /** Parameters of the model. */
  readonly sampling: Sampling | undefined;
}

/** A parsed chat completion request. */
export interface ChatInput extends TurnRequest {
  readonly form: Form;
  readonly includeUsage: boolean;
  /** Whether the client can remove text that a chunk declares void. */
  readonly includeVoided: boolean;
  /** Whether the client wants to see what the model thinks. */
  readonly includeReasoning: boolean;
}

/** Parses a request; throws a Fault for what is not supported. */
export function readRequest(body: JsonObject): ChatInput {
  refuseParameters(body, CHAT_PARAMETERS);
  const request = body as unknown as ChatRequest;
  if ((request.n ?? 1) > 1)
    throw new Fault("BAD_REQUEST", "One answer is given to a request: n must be 1.", { detail: { path: "/n" } });
  if (request.modalities?.some((kind) => kind !== "text") === true) throw refusalAt("Answers are text.", "/modalities");
  return {
    ...readConversation(request.messages),
    form: isEarlierForm(request) ? "functions" : "tools",
    stream: request.stream === true,
    includeUsage: request.stream_options?.include_usage === true,
    includeVoided: request.stream_options?.include_voided === true,
    includeReasoning: request.include_reasoning === true,
    ...toolOffer(request),
    sampling: samplingIn(body, request),
  };
}

function samplingIn(body: JsonObject, request: ChatRequest): Sampling | undefined {
  const { frequency_penalty: frequency, presence_penalty: presence, seed } = request;
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? null;
  const sampling: Sampling = {
    ...samplingOf({ ...request, max_tokens: maxTokens }, Number.MAX_SAFE_INTEGER),
    ...(typeof frequency === "number" ? { frequencyPenalty: frequency } : {}),
    ...(typeof presence === "number" ? { presencePenalty: presence } : {}),
    ...(typeof seed === "number" ? { seed } : {}),
    ...effortOf(body["reasoning_effort"], "/reasoning_effort"),
    ...verbosityOf(body["verbosity"], "/verbosity"),
    ...formatOf(body["response_format"], "/response_format"),
    ...vendorFields(body),
  };
  return Object.keys(sampling).length === 0 ? undefined : sampling;
}

/** Splits the messages of a client; `before` are turns that the client did not send again. */
export function readConversation(messages: readonly ChatMessage[], before: readonly Turn[] = []): SentConversation {
  const index = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[index];
  const returned = returnedBy(messages, before);
  if (last === undefined && returned === undefined)
    throw refusalAt("A request needs a message of the role user.", "/messages");
  const instructions = messages.flatMap((message, at) => (isSystem(message) ? [messageText(message, at)] : []));
  return {
    system: instructions.join("\n\n"),
    earlier: [...before, ...messageTurns(messages.slice(0, Math.max(0, index)))],
    task: last === undefined ? "" : messageText(last, index),
    ...(last === undefined ? {} : messageFiles(last, index)),
    returned,
  };
}

function isSystem({ role }: ChatMessage): boolean {
  return role === "system" || role === "developer";
}

function isEarlierForm({ functions, function_call, tools, messages }: ChatRequest): boolean {
  return !tools && (Boolean(functions) || Boolean(function_call) || messages.at(-1)?.role === "function");
}

/** The result of a call that the conversation ends with. */
function returnedBy(messages: readonly ChatMessage[], before: readonly Turn[]): ReturnedResult | undefined {
  const last = messages.at(-1);
  if (last?.role !== "tool" && last?.role !== "function") return undefined;
  const asker = messages.findLastIndex(({ role }) => role === "assistant");
  const calls = asker === -1 ? [] : callsOf(messages[asker]!, asker);
  const callId = last.tool_call_id ?? undefined;
  const named = calls.find(({ id, name }) => (callId === undefined ? name === (last.name ?? name) : id === callId));
  const call = named ?? (last.name ? { name: toolName(last.name), arguments: "" } : undefined);
  const conversation = [...before, ...messageTurns(messages)];
  return { callId, call, text: messageText(last, messages.length - 1), conversation };
}

function toolOffer(request: ChatRequest): ToolOffer {
  const { tool_choice: choice } = request;
  const callerTools = toolSpecs(offeredTools(request));
  const allowed = typeof choice === "object" ? choice?.allowed_tools : undefined;
  if (!isObject(allowed)) return { callerTools, choice: choiceOf(request) };
  const listed: readonly unknown[] = Array.isArray(allowed["tools"]) ? allowed["tools"] : [];
  return allowedTools(callerTools, {
    mode: allowed["mode"],
    names: listed.map((each) => toolName(nameIn(each) ?? "")),
  });
}

function offeredTools({ functions, tools }: ChatRequest): readonly CallerTool[] {
  return [
    ...(functions ?? []).map((each, index) => ({ ...each, path: `/functions/${index}` })),
    ...(tools ?? []).map(({ type, function: each, custom }, index): CallerTool => {
      const path = `/tools/${index}`;
      if (type === "function" && each !== undefined) return { ...pick(each), path };
      if (type === "custom" && custom !== undefined) return { ...pick(custom), custom: true, path };
      throw refusalAt(`A tool is a function or a custom tool, not ${JSON.stringify(type)}.`, path);
    }),
  ];
}

function pick<Tool extends Pick<CallerTool, "name" | "description" | "parameters" | "strict">>(tool: Tool): Tool {
  const { name, description, parameters, strict } = tool;
  return { name, description, parameters, strict } as Tool;
}

/** The name of a tool, in any form that the wire has for one; the schema does not look at what a choice holds. */
function nameIn(choice: unknown): string | undefined {
  if (!isObject(choice)) return undefined;
  const names = [choice, choice["function"], choice["custom"]].map((one) => (isObject(one) ? one["name"] : undefined));
  return names.find((name) => typeof name === "string");
}

function choiceOf(request: ChatRequest): ToolOffer["choice"] {
  const choice = request.tool_choice ?? request.function_call ?? "auto";
  if (choice === "none" || choice === "required") return choice;
  if (choice === "auto") return undefined;
  // Only the earlier form writes the bare name.
  const isBare = typeof choice === "string" && !request.tool_choice;
  const name = typeof choice === "string" ? (isBare ? choice : undefined) : nameIn(choice);
  if (name !== undefined && name !== "") return { tool: toolName(name) };
  const path = request.tool_choice ? "/tool_choice" : "/function_call";
  throw refusalAt("What is to be called is none, auto, required, or one tool by its name.", path);
}
