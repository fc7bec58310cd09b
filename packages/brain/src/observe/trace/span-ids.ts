import { createHash } from "node:crypto";
import type { RunStarted } from "@vidro/core";
import { readTraceparent } from "@vidro/core/trace";

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** The trace of a run: that of its caller, or one of its own, which follows from its id. */
export function traceOf(
  run: string,
  { trace }: Pick<RunStarted, "trace">,
): { readonly traceId: string; readonly parentId?: string; readonly isSampled?: boolean } {
  const caller = readTraceparent(trace);
  if (caller === undefined) return { traceId: digits(`vidro trace ${run}`, TRACE_DIGITS) };
  return { traceId: caller.traceId, parentId: caller.spanId, isSampled: caller.isSampled };
}

/** The id of a span of a run. */
export function spanIdOf(run: string, key: string): string {
  return digits(`vidro span ${run} ${key}`, SPAN_DIGITS);
}

function digits(text: string, count: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, count);
}
