import { Fault, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { ENROL_SCHEMA, RENEW_SCHEMA } from "@vidro/core/wire/enrolment";
import { HAND_MESSAGE_SCHEMAS } from "@vidro/core/wire/agent-ws-schemas";
import type { SamplePush } from "../../observe/telemetry.ts";
import { schemaChecks } from "../wire-check.ts";

const checkOf = schemaChecks({ ...HAND_MESSAGE_SCHEMAS, enrolment: ENROL_SCHEMA, renewal: RENEW_SCHEMA });

/** Checks a message of a hand against the schema of its method; BAD_REQUEST names the wrong field. */
export function checkAgentMessage(method: string, fields: JsonObject): void {
  const check = checkOf(Object.hasOwn(HAND_MESSAGE_SCHEMAS, method) ? method : "");
  if (check === undefined) throw new Fault("BAD_REQUEST", `There is no method ${JSON.stringify(method)}.`);
  const wrong = check(fields);
  if (wrong !== undefined) throw new Fault("BAD_REQUEST", `${method}: ${wrong}`);
}

/** Checks an enrolment or renewal request against its schema; BAD_REQUEST names the wrong field. */
export function checkCertificateRequest(what: "enrolment" | "renewal", asked: JsonObject): void {
  const wrong = checkOf(what)?.(asked);
  if (wrong !== undefined) throw new Fault("BAD_REQUEST", `${what}: ${wrong}`);
}

/** The sample in a checked `telemetry.push`; without a readable time it gets the present one. */
export function telemetryPush(fields: JsonObject, now: number): SamplePush {
  const at = Date.parse(textIn(fields, "ts") ?? "");
  return {
    id: textIn(fields, "action_id") ?? "",
    payload: fields["payload"] as JsonObject,
    at: Number.isNaN(at) ? now : at,
  };
}
