import type { ParentLink, RunStarted } from "@vidro/core";
import { currentTraceparent } from "../observe/containment.ts";
import type { RunTraces } from "./run-dependencies.ts";

/** Where a new run comes from: its parent, if it is a helper, and the trace of that or of the request that starts it. */
export function originOf(
  { helper }: { readonly helper?: { readonly parent: ParentLink; readonly trace?: string } },
  { traces }: { readonly traces?: RunTraces },
): Pick<RunStarted, "parent" | "trace"> {
  const link = helper === undefined ? {} : { parent: helper.parent };
  const trace = helper === undefined ? currentTraceparent() : helper.trace;
  return trace === undefined || traces?.isTrace(trace) !== true ? link : { ...link, trace };
}
