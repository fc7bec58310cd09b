import { isObject, textIn } from "@vidro/core";
import type { Json, JsonObject, Sampling, Turn } from "@vidro/core";
import { samplingOf } from "../../sampling.ts";
import type { Params } from "../../sampling.ts";
import { allowedTools, refusalAt, toolSpecs } from "../caller-tools.ts";
import type { ToolOffer } from "../caller-tools.ts";
import { effortOf, formatOf, refuseParameters, RESPONSE_PARAMETERS, vendorFields, verbosityOf } from "../parameters.ts";
import { readConversation } from "../request.ts";
import type { TurnRequest } from "../request.ts";
import { toolName } from "../tool-names.ts";
import { inputMessages, responseTools } from "./items.ts";

/** A parsed request for a response. */
export interface ResponseInput extends TurnRequest {
  readonly store: boolean;
  /** Whether the client does not wait for the answer. */
  readonly background: boolean;
  /** Most actions of hands. */
  readonly mostActions: number | undefined;
  /** Types of tools that are not offered to the model. */
  readonly leftOut: readonly string[];
  /** Fields of the request that each form of the response repeats. */
  readonly echo: JsonObject;
}

/** Where a request goes on from. */
interface EarlierConversation {
  readonly conversation: string | undefined;
  readonly previous: string | undefined;
}

/** The conversation or response that a request goes on from; at most one of them. */
export function readEarlier(body: JsonObject): EarlierConversation {
  const { conversation: given } = body;
  const conversation = typeof given === "string" ? given : isObject(given) ? textIn(given, "id") : undefined;
  const previous = textIn(body, "previous_response_id");
  if (conversation !== undefined && previous !== undefined)
    throw refusalAt(
      "A response goes on from a conversation or from a response, not from both.",
      "/previous_response_id",
    );
  return { conversation, previous };
}

/** Parses a request whose references are resolved; `before` are the turns of the response that it goes on from. */
export function readResponseRequest(body: JsonObject, before: readonly Turn[]): ResponseInput {
  refuseParameters(body, RESPONSE_PARAMETERS);
  refuseValues(body);
  const { instructions, input, max_tool_calls: mostActions } = body;
  const first = typeof instructions === "string" ? [{ role: "system" as const, content: instructions }] : [];
  const { offered, leftOut } = responseTools(body["tools"]);
  const callerTools = toolSpecs(offered);
  return {
    ...readConversation([...first, ...inputMessages(input)], before),
    ...offerOf(callerTools, body["tool_choice"]),
    stream: body["stream"] === true,
    store: body["store"] !== false,
    background: body["background"] === true,
    mostActions: typeof mostActions === "number" ? mostActions : undefined,
    leftOut,
    sampling: samplingIn(body),
    echo: echoOf(body, leftOut),
  };
}

/** Refuses values that ask for what does not exist here. */
function refuseValues(body: JsonObject): void {
  const { include, truncation, reasoning, background, store } = body;
  if (Array.isArray(include) && include.includes("message.output_text.logprobs"))
    throw refusalAt("Probabilities of tokens are not known here.", "/include");
  if (typeof truncation === "string" && truncation !== "auto")
    throw refusalAt("Long conversations are shortened here: truncation is auto.", "/truncation");
  const summary = summaryIn(reasoning);
  if (summary !== undefined && summary !== "auto" && summary !== "detailed")
    throw refusalAt("Thinking is shown as the model wrote it: the summary is auto or detailed.", "/reasoning/summary");
  if (background === true && store === false)
    throw refusalAt("A response in the background has to be stored.", "/store");
}

/** The form of thinking that a client wants to see; undefined when it wants none. */
function summaryIn(reasoning: Json | undefined): Json | undefined {
  return (isObject(reasoning) ? (reasoning["summary"] ?? reasoning["generate_summary"]) : undefined) ?? undefined;
}

/** `reasoning` of a response: its summary is what the client gets, also where it asks by `include` only. */
function reasoningEcho({ reasoning, include }: JsonObject): JsonObject {
  const isIncluded =
    Array.isArray(include) && include.some((name) => typeof name === "string" && name.startsWith("reasoning."));
  const summary = summaryIn(reasoning) ?? (isIncluded ? "auto" : null);
  return { effort: null, ...(isObject(reasoning) ? reasoning : {}), summary };
}

function samplingIn(body: JsonObject): Sampling | undefined {
  const { reasoning, text, max_output_tokens: maxTokens, temperature, top_p: topP } = body;
  const given = { temperature, top_p: topP, max_tokens: maxTokens } as Params;
  const sampling: Sampling = {
    ...samplingOf(given, Number.MAX_SAFE_INTEGER),
    ...(isObject(reasoning) ? effortOf(reasoning["effort"], "/reasoning/effort") : {}),
    ...(isObject(text) ? verbosityOf(text["verbosity"], "/text/verbosity") : {}),
    ...(isObject(text) ? formatOf(text["format"], "/text/format") : {}),
    ...vendorFields(body),
  };
  return Object.keys(sampling).length === 0 ? undefined : sampling;
}

function offerOf(callerTools: ToolOffer["callerTools"], choice: Json | undefined): ToolOffer {
  if (choice === undefined || choice === null || choice === "auto") return { callerTools, choice: undefined };
  if (choice === "none" || choice === "required") return { callerTools, choice };
  const { type, name, mode, tools } = isObject(choice) ? choice : {};
  if (type === "allowed_tools" && Array.isArray(tools)) {
    const names = (tools as readonly Json[]).map((tool) => nameIn(isObject(tool) ? tool : {}));
    return allowedTools(callerTools, { mode, names });
  }
  if ((type === "function" || type === "custom") && typeof name === "string" && isObject(choice))
    return { callerTools, choice: { tool: nameIn(choice) } };
  throw refusalAt(
    "What is to be called is none, auto, required, allowed_tools, or one tool by its name.",
    "/tool_choice",
  );
}

function nameIn(tool: JsonObject): string {
  return toolName(textIn(tool, "name") ?? "", textIn(tool, "namespace"));
}

const ECHOED = [
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "previous_response_id",
  "temperature",
  "top_p",
  "user",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
];

function echoOf(body: JsonObject, leftOut: readonly string[]): JsonObject {
  const { conversation } = readEarlier(body);
  const tools = Array.isArray(body["tools"]) ? (body["tools"] as readonly JsonObject[]) : [];
  return {
    ...Object.fromEntries(ECHOED.map((field) => [field, body[field] ?? null])),
    metadata: body["metadata"] ?? {},
    tools: tools.filter((tool) => !leftOut.includes(textIn(tool, "type") ?? "")),
    tool_choice: body["tool_choice"] ?? "auto",
    text: isObject(body["text"]) ? { format: { type: "text" }, ...body["text"] } : { format: { type: "text" } },
    reasoning: reasoningEcho(body),
    background: body["background"] === true,
    store: body["store"] !== false,
    parallel_tool_calls: false,
    truncation: "auto",
    ...(conversation === undefined ? {} : { conversation: { id: conversation } }),
  };
}
