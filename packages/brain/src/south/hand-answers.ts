import { Fault, HAND_LIMITS, isObject } from "@vidro/core";
import type { ActionEnd, FaultReport, JsonObject, Judgement, SpoolPart, Surroundings } from "@vidro/core";
import { ACTION_END_SCHEMA, withKnownCode } from "@vidro/core/wire/action-end";
import { JUDGEMENT_SCHEMA } from "@vidro/core/wire/judgement";
import { endOfReply } from "@vidro/core/wire/agent-ws";
import { REPLY_SCHEMA } from "@vidro/core/wire/agent-ws-schemas";
import { HOST_FACTS, HOST_FACTS_SCHEMA } from "@vidro/core/wire/host-facts";
import { lenientReader, schemaChecks } from "./wire-check.ts";

const check = schemaChecks({ judgement: JUDGEMENT_SCHEMA, end: ACTION_END_SCHEMA, reply: REPLY_SCHEMA });

/** A received judgement when it fits its schema, else a fault that explains what is wrong with it. */
export function soundJudgement(value: unknown): Judgement | FaultReport {
  if (!isObject(value)) return malformedAnswer("it is not an object.");
  const misfit = check("judgement")?.(value);
  return misfit === undefined ? (value as unknown as Judgement) : malformedAnswer(misfit);
}

const readFacts = lenientReader(HOST_FACTS_SCHEMA, HOST_FACTS);

/** Received facts about a host; those that do not fit their schema are left out. */
export function soundFacts(value: unknown): Surroundings {
  return isObject(value) ? readFacts(value) : {};
}

/** A received piece of a whole output, when it is one. */
export function soundSpoolPart(value: unknown): SpoolPart | FaultReport {
  const { data, bytes } = isObject(value) ? value : {};
  const isSize = typeof bytes === "number" && Number.isInteger(bytes) && bytes >= 0 && bytes <= HAND_LIMITS.spoolBytes;
  if (isSize && typeof data === "string" && data.length <= PART_CHARS && BASE64.test(data)) return { data, bytes };
  return new Fault("TOOL_FAILED", "The hand sent a malformed piece of an output.").report();
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const PART_CHARS = Math.ceil(HAND_LIMITS.spoolPartBytes / 3) * 4;

/** The fault of an action whose hand sent a malformed judgement. */
export function malformedAnswer(misfit: string): FaultReport {
  return new Fault("TOOL_FAILED", `The hand sent a malformed judgement: ${misfit}`).report();
}

/** A received end of an action, as hands of this version send it; a malformed one is an unknown outcome. */
export function soundEnd(value: unknown): ActionEnd {
  if (isObject(value) && check("end")?.(value) === undefined) return withKnownCode(value as unknown as ActionEnd);
  return unknown("it is not an end of an action.");
}

/** The end of an action in a reply of the agent-ws contract; a malformed one is an unknown outcome. */
export function soundReply(reply: JsonObject): ActionEnd {
  const misfit = check("reply")?.(reply);
  return misfit === undefined ? endOfReply(reply) : unknown(misfit);
}

function unknown(misfit: string): ActionEnd {
  const fault = new Fault("OUTCOME_UNKNOWN", `The hand sent a malformed outcome: ${misfit}`);
  return { type: "unknown", fault: fault.report() };
}
