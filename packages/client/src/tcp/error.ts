import type { TcpErrorCode } from "@vidro/core/wire/agent-tcp";

/** The error of a request, with a code of the protocol; CONNECTION: the connection was cut, or it took too long. */
export class TcpError extends Error {
  readonly code: TcpErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: TcpErrorCode, message: string, more: { cause?: unknown; retryAfterMs?: number | undefined } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "TcpError";
    this.code = code;
    this.retryAfterMs = more.retryAfterMs;
  }
}
