import type { RunStarted } from "@vidro/core";
import { currentTraceparent } from "../observe/containment.ts";
import type { RunTraces } from "./run-dependencies.ts";

/** The trace that a new run continues: that of its parent, or of the request that starts it; none without traces. */
export function traceOfStart(
  { helper }: { readonly helper?: { readonly trace?: string } },
  { traces }: { readonly traces?: RunTraces },
): Pick<RunStarted, "trace"> {
  if (traces === undefined) return {};
  const trace = helper === undefined ? currentTraceparent() : helper.trace;
  return trace === undefined || !traces.isTrace(trace) ? {} : { trace };
}
