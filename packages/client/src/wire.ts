import { isObject } from "@vidro/core";
import type { Json, JsonObject, RunHead, RunStatus } from "@vidro/core";
import { VidroError } from "./vidro-error.ts";

/* What comes over the wire is read here and nowhere else: its words stay here. */

/** A tool that a run may use. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly parameters: JsonObject;
}

/** A persona. */
export interface Agent {
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly prompt: string | null;
  readonly image: string | null;
  /** The model that decides for it; the brain's choice when it names none. */
  readonly model: string | null;
  /** Names of its tools; all there are when it names none. */
  readonly tools: readonly string[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One turn of a conversation. */
export interface Message {
  readonly role: string;
  readonly content: string | null;
}

/** A conversation as the brain keeps it. */
export interface ConversationRecord {
  readonly id: string;
  /** The uuid of its agent. */
  readonly agent: string;
  /** Names of its tools; those of its agent when it names none. */
  readonly tools: readonly string[] | null;
  readonly messages: readonly Message[];
}

/** A run in a list. */
export function headOf(json: Json): RunHead {
  const head = objectIn(json, "a run");
  return {
    id: text(head, "id"),
    owner: text(head, "owner"),
    thread: text(head, "thread"),
    task: text(head, "task"),
    status: text(head, "status") as RunStatus,
    seq: number(head, "seq"),
    startedAt: number(head, "startedAt"),
    updatedAt: number(head, "updatedAt"),
  };
}

/** Runs in a list. */
export function headsOf(json: Json): readonly RunHead[] {
  return listIn(objectIn(json, "runs")["runs"], "runs").map(headOf);
}

/** The tools that there are. */
export function toolsOf(json: Json): readonly Tool[] {
  return listIn(json, "tools").map((item) => {
    const tool = objectIn(item, "a tool");
    const parameters = objectIn(tool["parameters_schema"] ?? {}, "a schema");
    return { name: text(tool, "name"), description: text(tool, "description"), parameters };
  });
}

/** Agents in a list. */
export function agentsOf(json: Json): readonly Agent[] {
  return listIn(json, "agents").map(agentOf);
}

/** An agent. */
export function agentOf(json: Json): Agent {
  const agent = objectIn(json, "an agent");
  return {
    uuid: text(agent, "uuid"),
    name: text(agent, "name"),
    description: textOrNull(agent, "description"),
    prompt: textOrNull(agent, "prompt"),
    image: textOrNull(agent, "image"),
    model: textOrNull(agent, "model"),
    tools: namesIn(agent["tools"]),
    createdAt: Date.parse(text(agent, "created_at")),
    updatedAt: Date.parse(text(agent, "updated_at")),
  };
}

/** Conversations in a list. */
export function conversationsOf(json: Json): readonly ConversationRecord[] {
  return listIn(json, "conversations").map(conversationOf);
}

/** A conversation. */
export function conversationOf(json: Json): ConversationRecord {
  const thread = objectIn(json, "a conversation");
  return {
    id: text(thread, "thread_uuid"),
    agent: text(thread, "agent_uuid"),
    tools: namesIn(thread["tools_enabled"]),
    messages: listIn(thread["messages"] ?? [], "messages").map((item) => {
      const message = objectIn(item, "a message");
      return { role: text(message, "role"), content: textOrNull(message, "content") };
    }),
  };
}

function objectIn(json: Json | undefined, what: string): JsonObject {
  if (isObject(json)) return json;
  throw strange(what);
}

function listIn(json: Json | undefined, what: string): readonly Json[] {
  if (Array.isArray(json)) return json as readonly Json[];
  throw strange(what);
}

function namesIn(json: Json | undefined): readonly string[] | null {
  return json === undefined || json === null ? null : listIn(json, "names").map(String);
}

function text(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value === "string") return value;
  throw strange(name);
}

function textOrNull(from: JsonObject, name: string): string | null {
  const value = from[name] ?? null;
  return value === null ? null : text(from, name);
}

function number(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value === "number") return value;
  throw strange(name);
}

function strange(what: string): VidroError {
  return new VidroError("BAD_ANSWER", `The answer has not the shape of a brain's: ${what} is missing or strange.`);
}
