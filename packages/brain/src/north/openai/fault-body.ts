import { FAULTS, isObject } from "@vidro/core";
import type { Fault, FaultReport, Json } from "@vidro/core";

/** A fault in the chat wire's format; `param` names the field at fault, if there is one. */
export function chatFault(fault: Fault): Json {
  return faultBody(fault.report(), isObject(fault.detail) ? fault.detail["path"] : undefined);
}

/** The same for a fault that ended a run. */
export function faultBody({ code, message }: FaultReport, path?: Json): Json {
  const param = typeof path === "string" && path !== "" ? path.replace(/^\//, "").replaceAll("/", ".") : null;
  return { error: { message, type: typeOf(FAULTS[code].http), param, code } };
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  // A refusal by the model's server (424) is not known to be the caller's mistake.
  return status < 500 && status !== 424 ? "invalid_request_error" : "server_error";
}
