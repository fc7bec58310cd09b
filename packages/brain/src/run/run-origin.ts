import type { NewRun, ParentLink, RunStarted } from "@vidro/core";
import { LOCAL_OWNER } from "../auth/caller.ts";
import { FIRST_GENERATION } from "@vidro/core/run";
import { currentTraceparent } from "../observe/containment.ts";
import type { RunDependencies, RunTraces } from "./run-dependencies.ts";

/** Where a new run comes from: its parent, if it is a helper, and the trace of that or of the request that starts it. */
export function originOf(
  { helper }: { readonly helper?: { readonly parent: ParentLink; readonly trace?: string } },
  { traces }: { readonly traces?: RunTraces },
): Pick<RunStarted, "parent" | "trace"> {
  const link = helper === undefined ? {} : { parent: helper.parent };
  const trace = helper === undefined ? currentTraceparent() : helper.trace;
  return trace === undefined || traces?.isTrace(trace) !== true ? link : { ...link, trace };
}

/** The generation of a store that has come back from a backup. */
export function generationOf({
  generation,
}: Partial<Pick<RunDependencies, "generation">>): Pick<RunStarted, "generation"> {
  return generation === undefined || generation === FIRST_GENERATION ? {} : { generation };
}

/** The ids and the owner of a new run; the owner is the person at this machine when none is named. */
export function newRun(
  id: string,
  thread: string,
  { owner = LOCAL_OWNER, key, sole }: { readonly owner?: string; readonly key?: string; readonly sole?: string },
): NewRun {
  return { id, owner, thread, ...(key === undefined ? {} : { key }), ...(sole === undefined ? {} : { sole }) };
}
