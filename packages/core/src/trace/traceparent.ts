/** The place of work in a trace, as the header `traceparent` of W3C Trace Context carries it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the trace is recorded. */
  readonly isSampled: boolean;
}

// Versions after 00 may have further fields; version ff is invalid.
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads a `traceparent`; undefined for what is none. */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = FORM.exec(text ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Writes a `traceparent`. */
export function writeTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
