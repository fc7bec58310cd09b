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

/** A hand. */
export interface HandRecord {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  /** ok works, degraded is connected but gets no work, down is not connected. */
  readonly state: "ok" | "degraded" | "down";
  readonly barred: "revoked" | "quarantined" | null;
  /** Why it is barred. */
  readonly why: string | null;
  /** By which way it is reached. */
  readonly gateway: string;
  readonly version: string;
  readonly workspace: string;
  readonly tags: readonly string[];
  /** Names of its tools. */
  readonly tools: readonly string[];
  readonly lastSeenAt: number;
  readonly createdAt: number;
  /** What it last told of its host; only where one hand was asked for. */
  readonly telemetry: HandSample | null;
}

/** What a hand told of its host at a time. */
export interface HandSample {
  readonly at: number;
  readonly payload: JsonObject;
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
    ...(typeof head["damaged"] === "string" ? { damaged: head["damaged"] } : {}),
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

/** Hands in a list. */
export function handsOf(json: Json): readonly HandRecord[] {
  return listIn(objectIn(json, "hands")["hands"], "hands").map(handOf);
}

/** A hand. */
export function handOf(json: Json): HandRecord {
  const hand = objectIn(json, "a hand");
  const told = hand["telemetry"] ?? null;
  return {
    id: text(hand, "id"),
    name: text(hand, "name"),
    owner: text(hand, "owner"),
    state: text(hand, "state") as HandRecord["state"],
    barred: textOrNull(hand, "barred") as HandRecord["barred"],
    why: textOrNull(hand, "why"),
    gateway: text(hand, "gateway"),
    version: text(hand, "version"),
    workspace: text(hand, "workspace"),
    tags: namesIn(hand["tags"]) ?? [],
    tools: listIn(hand["tools"], "tools").map((tool) => (typeof tool === "string" ? tool : nameIn(tool))),
    lastSeenAt: Date.parse(text(hand, "last_seen_at")),
    createdAt: Date.parse(text(hand, "created_at")),
    telemetry: told === null ? null : sampleOf(told),
  };
}

function nameIn(json: Json): string {
  return text(objectIn(json, "a tool"), "name");
}

/** Where a hand may be called. */
export function addressOf(json: Json): { readonly id: string; readonly url: string | null } {
  const allowed = objectIn(json, "an address");
  return { id: text(allowed, "id"), url: textOrNull(allowed, "url") };
}

/** The next key of a hand. */
export function keyOf(json: Json): { readonly id: string; readonly keyId: string } {
  const key = objectIn(json, "a key");
  return { id: text(key, "id"), keyId: text(key, "key_id") };
}

/** What a hand told of its host, in a list. */
export function samplesOf(json: Json): readonly HandSample[] {
  return listIn(objectIn(json, "samples")["samples"], "samples").map(sampleOf);
}

function sampleOf(json: Json): HandSample {
  const sample = objectIn(json, "a sample");
  return { at: Date.parse(text(sample, "at")), payload: objectIn(sample["payload"], "a payload") };
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
