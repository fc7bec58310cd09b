import { FAULTS, isObject } from "@vidro/core";
import type { Fault, FaultReport, Json } from "@vidro/core";

/** A fault as clients of the chat wire read it; `param` names the field that is at fault where one is. */
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
  // What the model's server refused is not at fault in the caller's request as far as anybody here can tell.
  return status < 500 && status !== 424 ? "invalid_request_error" : "server_error";
}
