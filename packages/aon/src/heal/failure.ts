import { isObject } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { HEALING_LIMITS } from "../limits.ts";

/** A failure, reduced to what heuristics compare. */
export interface Failure {
  readonly error: unknown;
  /** The error's own code, else its HTTP status as `HTTP_503`, else its name. */
  readonly code: string;
  readonly message: string;
  readonly name: string;
  readonly status: number | undefined;
  /** The port that could not be reached. */
  readonly port: number | undefined;
  /** Delay that the other side asked for. */
  readonly askedDelayMs: number | undefined;
  /** Whether it is certain that the operation had no effect. */
  readonly isBeforeEffect: boolean;
}

/** The connection was never made, or the other side refused the request before processing it. */
const REFUSED_CODES =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|08001|08004|57P03|P1001)$/;
const REFUSED_STATUSES: readonly (number | undefined)[] = [400, 401, 407, 413, 415, 422, 429];
const EXPIRED = /^(?:TOKEN_EXPIRED|JWT_EXPIRED|ERR_JWT_EXPIRED|TokenExpiredError)$/;

/** Marks an error as certainly before any effect, so that its operation may be repeated. */
export function beforeEffect<E extends object>(error: E): E {
  return Object.assign(error, { isBeforeEffect: true });
}

/** Reads a failure out of anything thrown. */
export function failureOf(error: unknown): Failure {
  const chain = causesOf(error);
  const first = <T>(read: (each: JsonObject) => T | undefined): T | undefined =>
    chain.map(read).find((found) => found !== undefined);
  const status = first((each) => numberIn(each, "status") ?? numberIn(each, "statusCode") ?? statusOfResponse(each));
  const name = error instanceof Error ? error.name : "Error";
  const given = first((each) => (typeof each["code"] === "string" ? each["code"] : undefined));
  const code = given ?? (status === undefined ? name : `HTTP_${status}`);
  const isDeclared = chain.some((each) => each["isBeforeEffect"] === true);
  return {
    error,
    code,
    message: (error instanceof Error ? error.message : String(error)).slice(0, HEALING_LIMITS.messageChars),
    name,
    status,
    port: first((each) => numberIn(each, "port")),
    askedDelayMs: first(retryAfterIn),
    isBeforeEffect:
      isDeclared ||
      REFUSED_CODES.test(code) ||
      REFUSED_STATUSES.includes(status) ||
      EXPIRED.test(code) ||
      isInvalid(name),
  };
}

/** Whether the error's name is that of a failed validation. */
export function isInvalid(name: string): boolean {
  return /^(?:ValidationError|ZodError|ValiError|SchemaError)$/.test(name);
}

const HTTP_DATE = /^\s*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/;

/** The delay of a Retry-After value in milliseconds: seconds, or a date. */
export function retryAfterMs(value: string, nowMs: number): number | undefined {
  const seconds = /^\s*(\d{1,9}(?:\.\d{1,3})?)\s*$/.exec(value)?.[1];
  if (seconds !== undefined) return Math.round(Number(seconds) * 1000);
  // What else JavaScript takes for a date, such as -1, is none of HTTP.
  const atMs = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** The error and its causes, since libraries wrap the original error. */
function causesOf(error: unknown): readonly JsonObject[] {
  const chain: JsonObject[] = [];
  let each = error;
  while (isObject(each) && chain.length < HEALING_LIMITS.causes) {
    chain.push(each);
    each = each["cause"];
  }
  return chain;
}

function numberIn(error: JsonObject, name: string): number | undefined {
  const value = error[name];
  return typeof value === "number" ? value : undefined;
}

function statusOfResponse(error: JsonObject): number | undefined {
  return isObject(error["response"]) ? numberIn(error["response"], "status") : undefined;
}

function retryAfterIn(error: JsonObject): number | undefined {
  const given = numberIn(error, "retryAfterMs");
  if (given !== undefined) return Math.max(0, given);
  const response = isObject(error["response"]) ? error["response"] : {};
  const header = headerIn(error["headers"]) ?? headerIn(response["headers"]) ?? error["retryAfter"];
  return typeof header === "string" || typeof header === "number"
    ? retryAfterMs(String(header), Date.now())
    : undefined;
}

function headerIn(headers: unknown): string | undefined {
  if (headers instanceof Headers) return headers.get("retry-after") ?? undefined;
  if (!isObject(headers)) return undefined;
  const value = headers["retry-after"] ?? headers["Retry-After"];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
