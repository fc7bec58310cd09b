import { Fault } from "../fault.ts";
import type { FaultCode } from "../fault.ts";
import { isObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { SAMPLING_LIMITS, WORKER_LIMITS } from "../limits.ts";

/*
 * The model worker on its Unix socket: requests and replies, one JSON object per line. The reading of what a worker
 * sends is in worker-lines.ts. Fields beyond the contract are optional for the other end.
 */

/** Where a worker listens unless a setting says otherwise [000-08]. */
export const WORKER_SOCKET = "/run/fazai/gemma.sock";

/** What a worker of ours can do beyond the contract, as `extensions` of its status. */
export const WORKER_EXTENSIONS = ["messages", "tools"] as const;

/** A message of a conversation; our extension. */
export type WorkerMessage = {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
};

/** A tool whose calls are held to its schema; our extension. */
export interface WorkerTool {
  readonly name: string;
  readonly parameters: JsonObject;
}

/** Parameters of a session, each number within its range. */
export interface WorkerParams {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxTokens?: number;
  readonly repeatPenalty?: number;
  readonly seed?: number;
  readonly stop: readonly string[];
  readonly tools: readonly WorkerTool[];
  /** Whether an answer must call one of the tools. */
  readonly isToolRequired: boolean;
}

/** A request to a worker; `id` is given back with each line of its answer. */
export type WorkerRequest = { readonly id?: Json } & (
  | { readonly type: "create_session"; readonly params: WorkerParams }
  | {
      readonly type: "generate";
      readonly session: string;
      readonly prompt: string;
      readonly stream: boolean;
      /** The conversation before the prompt; when absent, the one that the session has. */
      readonly messages?: readonly WorkerMessage[];
    }
  | { readonly type: "abort" | "close_session"; readonly session: string }
  | { readonly type: "status" }
);

/** Why a generation ended. */
export type WorkerStopReason = "stop" | "length" | "aborted";

/** The error of a request whose type no worker knows [000-16]. */
export const UNKNOWN_TYPE = "unknown_type";

/** Reads a request; BAD_REQUEST says what is wrong with it, UNKNOWN_TYPE when its type is unknown [000-21]. */
export function readWorkerRequest(line: Json): WorkerRequest {
  if (!isObject(line)) throw workerRefusal("A request is one JSON object on a line.");
  const id = line["id"] === undefined ? {} : { id: line["id"] };
  const type = line["type"] ?? line["method"];
  // In an envelope with `method` the fields lie in `params`, which are the session's own for create_session.
  const fields = isObject(line["params"]) && type !== "create_session" ? { ...line["params"], ...line } : line;
  switch (type) {
    case "create_session":
      return { ...id, type, params: readParams(line["params"]) };
    case "generate":
      return {
        ...id,
        type,
        session: text(fields, "session_id"),
        prompt: text(fields, "prompt"),
        ...generation(fields),
      };
    case "abort":
    case "close_session":
      return { ...id, type, session: text(fields, "session_id") };
    case "status":
      return { ...id, type };
    default:
      throw workerRefusal(UNKNOWN_TYPE);
  }
}

/** The code that a worker of ours gives beside the words of an error; undefined for any other code. */
export function workerFaultCode(code: Json | undefined): FaultCode | undefined {
  return typeof code === "string" && WORKER_CODES.has(code) ? (code as FaultCode) : undefined;
}

const WORKER_CODES: ReadonlySet<string> = new Set<FaultCode>([
  "MODEL_UNAVAILABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_REFUSED",
  "MODEL_RUBBISH",
]);

function generation(fields: JsonObject): { stream: boolean; messages?: readonly WorkerMessage[] } {
  const { stream, messages } = fields;
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    throw workerRefusal("stream must be true or false.");
  const before = messages === undefined || messages === null ? {} : { messages: readMessages(messages) };
  return { stream: stream !== false, ...before };
}

function readMessages(value: Json): readonly WorkerMessage[] {
  if (!Array.isArray(value) || value.length > WORKER_LIMITS.messages)
    throw workerRefusal(`messages must be an array of at most ${WORKER_LIMITS.messages} messages.`);
  return value.map((message: Json) => {
    const { role, content } = isObject(message) ? message : {};
    if (!(role === "system" || role === "user" || role === "assistant") || typeof content !== "string")
      throw workerRefusal("A message has a role (system, user or assistant) and its content, a text.");
    return { role, content };
  });
}

function readParams(params: Json | undefined): WorkerParams {
  if (!isObject(params)) throw workerRefusal("create_session needs params, an object; it may be empty.");
  const { temperature, topP, maxTokens, repeatPenalty } = SAMPLING_LIMITS;
  const seed = numberIn(params, "seed", { least: 0, most: 2 ** 32 - 1 });
  const tokens = numberIn(params, "max_tokens", maxTokens);
  return {
    ...fieldIfGiven("temperature", numberIn(params, "temperature", temperature)),
    ...fieldIfGiven("topP", numberIn(params, "top_p", topP)),
    ...fieldIfGiven("maxTokens", tokens === undefined ? undefined : Math.round(tokens)),
    ...fieldIfGiven("repeatPenalty", numberIn(params, "repeat_penalty", repeatPenalty)),
    ...fieldIfGiven("seed", seed === undefined ? undefined : Math.round(seed)),
    stop: readStops(params["stop"]),
    tools: readTools(params["tools"]),
    isToolRequired: params["tool_choice"] === "required",
  };
}

function fieldIfGiven<Name extends string>(name: Name, value: number | undefined): { readonly [key in Name]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in Name]: number });
}

/** A number of the parameters, clamped to its range [000-11]. */
function numberIn(
  params: JsonObject,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  const value = params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number") throw workerRefusal(`${name} must be a number.`);
  return Math.min(Math.max(value, least), most);
}

function readStops(value: Json | undefined): readonly string[] {
  const stops = typeof value === "string" ? [value] : (value ?? []);
  if (!Array.isArray(stops) || !stops.every((stop) => typeof stop === "string"))
    throw workerRefusal("stop must be a text or an array of texts.");
  return stops.filter((stop) => stop !== "");
}

function readTools(value: Json | undefined): readonly WorkerTool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > WORKER_LIMITS.tools)
    throw workerRefusal(`tools must be an array of at most ${WORKER_LIMITS.tools} tools.`);
  return value.map((tool: Json) => {
    const { name, parameters = {} } = isObject(tool) ? tool : {};
    if (typeof name !== "string" || name === "" || !isObject(parameters))
      throw workerRefusal("A tool has a name and its parameters, a JSON Schema.");
    return { name, parameters };
  });
}

function text(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value === "string" && value !== "") return value;
  throw workerRefusal(`${name} is missing: it must be a text that is not empty.`);
}

function workerRefusal(words: string): Fault {
  return new Fault("BAD_REQUEST", words);
}
