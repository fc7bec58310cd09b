import type { Action } from "../tool.ts";

/* Processes in the background that end with their run: one action starts each, and its end is ordered with the run's. */

const START = "start_process";
const STOP = "stop_process";

/** Whether an action may start a process that ends with the run. */
export function startsProcess({ tool, input }: Action): boolean {
  return tool === START && input["keep"] !== true;
}

/** The action that ends the process which another action has started, on the same hand. */
export function endingAction({ id, callId, input: { hand } }: Action): Action {
  return { id: `${id}-end`, tool: STOP, callId, input: { process: id, ...(hand === undefined ? {} : { hand }) } };
}
