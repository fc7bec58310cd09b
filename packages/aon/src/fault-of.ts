import { isObject } from "@vidro/core";
import type { Json } from "@vidro/core";
import { HEALING_LIMITS } from "./limits.ts";

/** The fields of an `error` event. */
export interface AonFault {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly detail?: Json;
}

const CODES: Readonly<Record<number, string>> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  406: "NOT_ACCEPTABLE",
  408: "TIMEOUT",
  409: "CONFLICT",
  410: "GONE",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  422: "UNPROCESSABLE",
  429: "RATE_LIMITED",
  500: "INTERNAL_ERROR",
  502: "BAD_GATEWAY",
  503: "UNAVAILABLE",
  504: "TIMEOUT",
};
const CODE = /^[A-Za-z][A-Za-z0-9_.-]{1,63}$/;
const HIDDEN = "The server failed. Its log has more under the trace id.";

/** The code for an HTTP status. */
export function codeOfStatus(status: number): string {
  return CODES[status] ?? `HTTP_${status}`;
}

/** The fault in an error answer of the route, with the route's code and message. */
export function faultOfAnswer(status: number, body: Json | undefined): AonFault {
  const words = isObject(body) ? body : {};
  const inner = isObject(words["error"]) ? words["error"] : words;
  const code = [inner["code"], words["code"]].find((each) => typeof each === "string" && CODE.test(each));
  const message = [inner["message"], words["message"], words["error"], body].find((each) => typeof each === "string");
  return {
    code: typeof code === "string" ? code : codeOfStatus(status),
    message: typeof message === "string" && message !== "" ? message : `The route answered with status ${status}.`,
    status,
    ...(isObject(body) ? { detail: body } : {}),
  };
}

/** Whether a value is a status that HTTP has for a failure; errors of other protocols have numbers of their own. */
function isFailureStatus(value: Json | undefined): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600;
}

/** The fault of a thrown value; in production the message of an unexpected server error is hidden. */
export function faultOfThrown(thrown: unknown, isProduction: boolean): AonFault {
  const error = isObject(thrown) ? thrown : {};
  const status = [error["status"], error["statusCode"]].find(isFailureStatus) ?? 500;
  const code = typeof error["code"] === "string" && CODE.test(error["code"]) ? error["code"] : codeOfStatus(status);
  const isMeant = status < 500 || error["expose"] === true;
  const message = thrown instanceof Error ? thrown.message : typeof thrown === "string" ? thrown : "";
  return {
    code,
    message: message === "" || (isProduction && !isMeant) ? HIDDEN : message.slice(0, HEALING_LIMITS.messageChars),
    status,
  };
}
