import { NO_SPENDING, SPENDING_FIELDS } from "@vidro/core";
import type { Json, JsonObject, RunHead, RunStatus, SpendingRow } from "@vidro/core";
import { listIn, optionalNames, numberField, objectIn, optionalTextField, textField } from "./record-fields.ts";

/* Reads the JSON of the brain's HTTP surfaces; no other file knows its field names. */

/** A tool that a run may use. */
export interface ToolRecord {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its input. */
  readonly parameters: JsonObject;
}

/** A persona. */
export interface AgentRecord {
  readonly uuid: string;
  readonly name: string;
  readonly description: string | null;
  readonly prompt: string | null;
  readonly image: string | null;
  /** Its model; the brain's default when null. */
  readonly model: string | null;
  /** Names of its tools; all tools when null. */
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
  /** Why it is restricted. */
  readonly why: string | null;
  /** Name of its gateway. */
  readonly gateway: string;
  readonly version: string;
  readonly workspace: string;
  readonly tags: readonly string[];
  /** Names of its tools. */
  readonly tools: readonly string[];
  readonly lastSeenAt: number;
  readonly createdAt: number;
  /** Latest telemetry of its host; null in lists. */
  readonly telemetry: HandSample | null;
}

/** One telemetry sample of a hand's host. */
export interface HandSample {
  readonly at: number;
  readonly payload: JsonObject;
}

/** A task that is run at certain times. */
export interface ScheduleRecord {
  readonly id: string;
  readonly owner: string;
  /** Five fields of cron, in the brain's time zone. */
  readonly cron: string;
  readonly task: string;
  /** Selector of hands; the brain's own when null. */
  readonly hand: string | null;
  readonly agent: string | null;
  readonly missed: string;
  /** When it is due next; null when it never is. */
  readonly nextAt: number | null;
  readonly lastRun: string | null;
  /** Why no run could be started for the last time. */
  readonly lastFault: string | null;
}

/** A task that another program starts. */
export interface HookRecord {
  readonly id: string;
  readonly owner: string;
  readonly task: string;
  /** Where it is called, below the address of the brain. */
  readonly path: string;
  readonly hand: string | null;
  readonly agent: string | null;
  readonly lastRun: string | null;
  readonly lastAt: number | null;
  /** The secret of its calls; null but for a hook that was just added. */
  readonly secret: string | null;
}

/** One turn of a conversation. */
export interface ConversationMessage {
  readonly role: string;
  readonly content: string | null;
}

/** A conversation as the brain keeps it. */
export interface ConversationRecord {
  readonly id: string;
  /** The uuid of its agent. */
  readonly agent: string;
  /** Names of its tools; those of its agent when null. */
  readonly tools: readonly string[] | null;
  readonly messages: readonly ConversationMessage[];
}

/** A run in a list. */
export function runHeadOf(json: Json): RunHead {
  const head = objectIn(json, "a run");
  return {
    id: textField(head, "id"),
    owner: textField(head, "owner"),
    thread: textField(head, "thread"),
    task: textField(head, "task"),
    status: textField(head, "status") as RunStatus,
    seq: numberField(head, "seq"),
    startedAt: numberField(head, "startedAt"),
    updatedAt: numberField(head, "updatedAt"),
    ...(typeof head["damaged"] === "string" ? { damaged: head["damaged"] } : {}),
  };
}

/** Runs in a list. */
export function runHeadsOf(json: Json): readonly RunHead[] {
  return listIn(objectIn(json, "runs")["runs"], "runs").map(runHeadOf);
}

/** Tools in a list. */
export function toolRecordsOf(json: Json): readonly ToolRecord[] {
  return listIn(json, "tools").map((item) => {
    const tool = objectIn(item, "a tool");
    const parameters = objectIn(tool["parameters_schema"] ?? {}, "a schema");
    return { name: textField(tool, "name"), description: textField(tool, "description"), parameters };
  });
}

/** Agents in a list. */
export function agentRecordsOf(json: Json): readonly AgentRecord[] {
  return listIn(json, "agents").map(agentRecordOf);
}

/** An agent. */
export function agentRecordOf(json: Json): AgentRecord {
  const agent = objectIn(json, "an agent");
  return {
    uuid: textField(agent, "uuid"),
    name: textField(agent, "name"),
    description: optionalTextField(agent, "description"),
    prompt: optionalTextField(agent, "prompt"),
    image: optionalTextField(agent, "image"),
    model: optionalTextField(agent, "model"),
    tools: optionalNames(agent["tools"]),
    createdAt: Date.parse(textField(agent, "created_at")),
    updatedAt: Date.parse(textField(agent, "updated_at")),
  };
}

/** Schedules in a list. */
export function scheduleRecordsOf(json: Json): readonly ScheduleRecord[] {
  return listIn(objectIn(json, "schedules")["schedules"], "schedules").map(scheduleRecordOf);
}

/** A schedule. */
export function scheduleRecordOf(json: Json): ScheduleRecord {
  const schedule = objectIn(json, "a schedule");
  return {
    id: textField(schedule, "id"),
    owner: textField(schedule, "owner"),
    cron: textField(schedule, "cron"),
    task: textField(schedule, "task"),
    hand: optionalTextField(schedule, "hand"),
    agent: optionalTextField(schedule, "agent"),
    missed: textField(schedule, "missed"),
    nextAt: schedule["nextAt"] === null ? null : numberField(schedule, "nextAt"),
    lastRun: optionalTextField(schedule, "lastRun"),
    lastFault: optionalTextField(schedule, "lastFault"),
  };
}

/** What models used, in a list. */
export function spendingRowsOf(json: Json): readonly SpendingRow[] {
  return listIn(objectIn(json, "usage")["usage"], "usage").map((one) => {
    const row = objectIn(one, "usage");
    const sums = { ...NO_SPENDING };
    for (const field of SPENDING_FIELDS) sums[field] = numberField(row, field);
    return {
      ...sums,
      key: textField(row, "key"),
      owner: textField(row, "owner"),
      updatedAt: numberField(row, "updatedAt"),
    };
  });
}

/** Hooks in a list. */
export function hookRecordsOf(json: Json): readonly HookRecord[] {
  return listIn(objectIn(json, "hooks")["hooks"], "hooks").map(hookRecordOf);
}

/** A hook. */
export function hookRecordOf(json: Json): HookRecord {
  const hook = objectIn(json, "a hook");
  return {
    id: textField(hook, "id"),
    owner: textField(hook, "owner"),
    task: textField(hook, "task"),
    path: textField(hook, "path"),
    hand: optionalTextField(hook, "hand"),
    agent: optionalTextField(hook, "agent"),
    lastRun: optionalTextField(hook, "lastRun"),
    lastAt: typeof hook["lastAt"] === "number" ? hook["lastAt"] : null,
    secret: optionalTextField(hook, "secret"),
  };
}

/** Hands in a list. */
export function handRecordsOf(json: Json): readonly HandRecord[] {
  return listIn(objectIn(json, "hands")["hands"], "hands").map(handRecordOf);
}

/** A hand. */
export function handRecordOf(json: Json): HandRecord {
  const hand = objectIn(json, "a hand");
  const told = hand["telemetry"] ?? null;
  return {
    id: textField(hand, "id"),
    name: textField(hand, "name"),
    owner: textField(hand, "owner"),
    state: textField(hand, "state") as HandRecord["state"],
    barred: optionalTextField(hand, "barred") as HandRecord["barred"],
    why: optionalTextField(hand, "why"),
    gateway: textField(hand, "gateway"),
    version: textField(hand, "version"),
    workspace: textField(hand, "workspace"),
    tags: optionalNames(hand["tags"]) ?? [],
    tools: listIn(hand["tools"], "tools").map((tool) => (typeof tool === "string" ? tool : nameIn(tool))),
    lastSeenAt: Date.parse(textField(hand, "last_seen_at")),
    createdAt: Date.parse(textField(hand, "created_at")),
    telemetry: told === null ? null : sampleOf(told),
  };
}

function nameIn(json: Json): string {
  return textField(objectIn(json, "a tool"), "name");
}

/** The address at which a hand may be called. */
export function handAddressOf(json: Json): { readonly id: string; readonly url: string | null } {
  const allowed = objectIn(json, "an address");
  return { id: textField(allowed, "id"), url: optionalTextField(allowed, "url") };
}

/** The next key of a hand. */
export function handKeyOf(json: Json): { readonly id: string; readonly keyId: string } {
  const key = objectIn(json, "a key");
  return { id: textField(key, "id"), keyId: textField(key, "key_id") };
}

/** Telemetry samples in a list. */
export function samplesOf(json: Json): readonly HandSample[] {
  return listIn(objectIn(json, "samples")["samples"], "samples").map(sampleOf);
}

function sampleOf(json: Json): HandSample {
  const sample = objectIn(json, "a sample");
  return { at: Date.parse(textField(sample, "at")), payload: objectIn(sample["payload"], "a payload") };
}

/** Conversations in a list. */
export function conversationsOf(json: Json): readonly ConversationRecord[] {
  return listIn(json, "conversations").map(conversationOf);
}

/** A conversation. */
export function conversationOf(json: Json): ConversationRecord {
  const thread = objectIn(json, "a conversation");
  return {
    id: textField(thread, "thread_uuid"),
    agent: textField(thread, "agent_uuid"),
    tools: optionalNames(thread["tools_enabled"]),
    messages: listIn(thread["messages"] ?? [], "messages").map((item) => {
      const message = objectIn(item, "a message");
      return { role: textField(message, "role"), content: optionalTextField(message, "content") };
    }),
  };
}
