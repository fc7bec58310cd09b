import { Fault, isObject } from "@vidro/core";
import type { ActionEnd, FaultReport, JsonObject, Judgement } from "@vidro/core";
import { ACTION_END_SCHEMA, withKnownCode } from "@vidro/core/wire/action-end";
import { JUDGEMENT_SCHEMA } from "@vidro/core/wire/judgement";
import { endOfReply } from "@vidro/core/wire/agent-ws";
import { REPLY_SCHEMA } from "@vidro/core/wire/agent-ws-schemas";
import { schemaChecks } from "./wire-check.ts";

const check = schemaChecks({ judgement: JUDGEMENT_SCHEMA, end: ACTION_END_SCHEMA, reply: REPLY_SCHEMA });

/** A judgement that came over a wire, when it is one; a fault that says what is wrong with it when it is none. */
export function soundJudgement(value: unknown): Judgement | FaultReport {
  if (!isObject(value)) return malformedAnswer("it is no object.");
  const misfit = check("judgement")?.(value);
  return misfit === undefined ? (value as unknown as Judgement) : malformedAnswer(misfit);
}

/** The fault of an action whose hand says nothing sensible about it. */
export function malformedAnswer(misfit: string): FaultReport {
  return new Fault("TOOL_FAILED", `The judgement of the hand makes no sense: ${misfit}`).report();
}

/** The end of an action that came over a wire in our own words; of one that makes no sense nobody knows. */
export function soundEnd(value: unknown): ActionEnd {
  if (isObject(value) && check("end")?.(value) === undefined) return withKnownCode(value as unknown as ActionEnd);
  return unknown("it is no end of an action.");
}

/** The end of an action in a reply in the words of the contract; of one that makes no sense nobody knows. */
export function soundReply(reply: JsonObject): ActionEnd {
  const misfit = check("reply")?.(reply);
  return misfit === undefined ? endOfReply(reply) : unknown(misfit);
}

function unknown(misfit: string): ActionEnd {
  const fault = new Fault("OUTCOME_UNKNOWN", `What the hand says of how the action ended makes no sense: ${misfit}`);
  return { type: "unknown", fault: fault.report() };
}
