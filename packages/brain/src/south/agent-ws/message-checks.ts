import { Fault, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { ENROL_SCHEMA, RENEW_SCHEMA } from "@vidro/core/wire/enrolment";
import { HAND_MESSAGE_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import type { SamplePush } from "../../observe/telemetry.ts";
import { schemaChecks } from "../wire-check.ts";

const checkOf = schemaChecks({ ...HAND_MESSAGE_SCHEMAS, enrolment: ENROL_SCHEMA, renewal: RENEW_SCHEMA });

/** Refuses what a hand tells unless it is as its method has it, and says where it is wrong. */
export function checkAgentMessage(method: string, fields: JsonObject): void {
  const check = checkOf(Object.hasOwn(HAND_MESSAGE_SCHEMAS, method) ? method : "");
  if (check === undefined) throw new Fault("BAD_REQUEST", `There is no method ${JSON.stringify(method)}.`);
  const wrong = check(fields);
  if (wrong !== undefined) throw new Fault("BAD_REQUEST", `${method}: ${wrong}`);
}

/** Refuses what a host asks for a certificate with unless it is as it has to be. */
export function checkCertificateRequest(what: "enrolment" | "renewal", asked: JsonObject): void {
  const wrong = checkOf(what)?.(asked);
  if (wrong !== undefined) throw new Fault("BAD_REQUEST", `${what}: ${wrong}`);
}

/** The sample in a `telemetry.push` that was checked; one without a readable time is of now. */
export function telemetryPush(fields: JsonObject, now: number): SamplePush {
  const at = Date.parse(textIn(fields, "ts") ?? "");
  return {
    id: textIn(fields, "action_id") ?? "",
    payload: fields["payload"] as JsonObject,
    at: Number.isNaN(at) ? now : at,
  };
}
