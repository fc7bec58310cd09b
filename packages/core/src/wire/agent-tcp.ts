import { Fault, FAULTS } from "../fault.ts";
import type { FaultCode, FaultReport } from "../fault.ts";
import type { JsonObject } from "../json.ts";
import { TCP_LIMITS } from "../limits.ts";

/*
 * The TCP agent protocol, version 1: its envelopes and its errors. The schemas of its actions are in
 * agent-tcp-schemas.ts. A hand listens, and clients dial it.
 */

/** The version that both ends have to speak [002-51]. */
export const TCP_VERSION = 1;

/** The ten errors of the protocol; CONNECTION is a client's own. */
export type TcpErrorCode =
  | "BAD_REQUEST"
  | "AUTH_REQUIRED"
  | "INVALID_TOKEN"
  | "TOKEN_EXPIRED"
  | "FORBIDDEN"
  | "UNKNOWN_ACTION"
  | "PAYLOAD_TOO_LARGE"
  | "RATE_LIMITED"
  | "INTERNAL_ERROR"
  | "CONNECTION";

/** The greeting of a server; the optional fields are ours. */
export type TcpHello = {
  readonly maxFrame: number;
  readonly heartbeat: number;
  readonly maxInFlight?: number;
  readonly serverVersion?: string;
  /** Actions beyond the protocol. */
  readonly extensions?: readonly string[];
};

/** A request of a client. */
export type TcpRequest = {
  readonly v: number;
  readonly t: "req";
  readonly id: string;
  readonly act: string;
  readonly data?: JsonObject;
};

/** A message of a server; `out` is live output, sent only when the request asked for it. */
export type TcpMessage =
  | { readonly v: number; readonly t: "hello"; readonly data: TcpHello }
  | { readonly v: number; readonly t: "res"; readonly id: string; readonly act: string; readonly data: JsonObject }
  | { readonly v: number; readonly t: "out"; readonly id: string; readonly act: string; readonly data: JsonObject }
  | TcpRefusal;

/** The answer to a failed request; RATE_LIMITED carries `retryAfterMs`. */
export type TcpRefusal = {
  readonly v: number;
  readonly t: "err";
  readonly id: string;
  readonly act: string;
  readonly code: TcpErrorCode;
  readonly msg: string;
  readonly retryAfterMs?: number;
};

/** The id in an answer to a message without a readable id [002-12]. */
export const NO_ID = "0";

/** Faults whose code on this wire does not follow from their HTTP status. */
const NAMED: { readonly [Code in FaultCode]?: TcpErrorCode } = {
  INVALID_TOKEN: "INVALID_TOKEN",
  TOKEN_EXPIRED: "TOKEN_EXPIRED",
  UNKNOWN_TOOL: "UNKNOWN_ACTION",
  TOOL_FAILED: "BAD_REQUEST",
  PLAN_CHANGED: "FORBIDDEN",
  CONNECTION_LOST: "CONNECTION",
  BRAIN_UNREACHABLE: "CONNECTION",
};

const BY_STATUS: { readonly [status: number]: TcpErrorCode } = {
  400: "BAD_REQUEST",
  401: "AUTH_REQUIRED",
  403: "FORBIDDEN",
  404: "BAD_REQUEST",
  409: "BAD_REQUEST",
  410: "BAD_REQUEST",
  413: "PAYLOAD_TOO_LARGE",
  422: "BAD_REQUEST",
  429: "RATE_LIMITED",
};

/** The code of a fault on this wire. */
export function tcpErrorCode(code: FaultCode): TcpErrorCode {
  return NAMED[code] ?? BY_STATUS[FAULTS[code].http] ?? "INTERNAL_ERROR";
}

/** The fault code for an error of this wire. */
export function tcpFaultCode(code: string): FaultCode {
  if (code === "CONNECTION") return "HAND_UNAVAILABLE";
  if (code === "UNKNOWN_ACTION") return "UNKNOWN_TOOL";
  return Object.hasOwn(FAULTS, code) ? (code as FaultCode) : "INTERNAL_ERROR";
}

/** The answer to a request that failed. */
export function tcpRefusal(id: string, act: string, fault: FaultReport): TcpRefusal {
  const { code, message, retryAfterMs } = fault;
  const refusal = { v: TCP_VERSION, t: "err", id, act, code: tcpErrorCode(code), msg: message } as const;
  return retryAfterMs === undefined ? refusal : { ...refusal, retryAfterMs };
}

const PORTS = 65_536;

/** Reads `host`, `host:port`, `:port` or `[::1]:port`; BAD_REQUEST when it is none of them. */
export function tcpAddress(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = digits === undefined ? TCP_LIMITS.port : Number(digits);
  if (host === undefined || port >= PORTS)
    throw new Fault(
      "BAD_REQUEST",
      `${JSON.stringify(text)} is no address: one looks like 127.0.0.1:${TCP_LIMITS.port}.`,
    );
  return { host: host === "" ? "127.0.0.1" : host, port };
}
