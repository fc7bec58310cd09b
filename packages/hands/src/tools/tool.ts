import type { Confinement, JsonObject, Outcome, Plan, ToolEffect, ToolSpec, Verdict } from "@vidro/core";
import type { BackgroundProcesses } from "../background/background-processes.ts";
import type { XStatic } from "typebox/schema";
import type { FileEditor } from "../files/planned-files.ts";
import { isInView, type Sandbox, type SandboxScope } from "../exec/sandbox.ts";

/** The parts of a hand that its tools may use. */
export interface HandContext {
  /** Absolute, with symlinks resolved. */
  readonly workspace: string;
  /** The hand's own state folder (absolute, with symlinks resolved). */
  readonly state: string;
  /** Vidro's own folders on this host, including the hand's; no tool reads or writes in them. */
  readonly reserved: () => readonly string[];
  /** The sandbox of this host, if it has one; searched for on the first call. */
  readonly sandbox: () => Promise<Sandbox | undefined>;
  /** Patterns of paths that sandboxed commands do not see; undefined for those of the shipped policy. */
  readonly secrets: () => readonly string[] | undefined;
  /** The processes in the background. */
  readonly background: BackgroundProcesses;
  /** The environment that processes get, rebuilt from an allowlist. */
  readonly env: { readonly [name: string]: string };
  /** Memory limit for all processes of one command together. */
  readonly memoryBytes: () => number;
  /** Patterns of host names whose pages may be fetched from addresses that are not public. */
  readonly privateHosts: () => readonly string[];
  /** The policy's verdict on a plan, for a tool that meets files which its own plan does not name. */
  readonly judge: (plan: Plan) => Verdict;
  /** The editor that has the workspace open: text files of the workspace are read and written there. */
  readonly editor?: FileEditor | undefined;
}

/** The parts of a context that starting a program needs. */
export type LaunchContext = Pick<HandContext, "workspace" | "state" | "reserved" | "sandbox" | "env" | "memoryBytes">;

/** What a confined command of this hand may see and touch. */
export function scopeOf(context: LaunchContext, confined: Confinement): SandboxScope {
  const { workspace, state, reserved, env } = context;
  return { confined, workspace, state, reserved: reserved(), env };
}

/** Whether this host has a sandbox in which the command would see its working folder. */
export async function canConfine(context: HandContext, confined: Confinement, cwd: string): Promise<boolean> {
  if ((await context.sandbox()) === undefined) return false;
  return confined === "facts" || isInView(cwd, context);
}

/** One execution of a tool: its frozen plan, its abort signal and where its output goes. */
export interface ToolExecution<P extends Plan = Plan> {
  readonly plan: P;
  readonly context: HandContext;
  /** The action's id. */
  readonly action: string;
  /** The run that the action belongs to. */
  readonly run: string;
  /** The orderer, at a hand that serves several brains. */
  readonly by?: string;
  /** Absolute path of the file for the whole output of a process; it does not exist yet. */
  readonly spool: string;
  readonly signal: AbortSignal;
  /** Sends live output to the followers of the action; does nothing when there are none. */
  output(stream: "stdout" | "stderr", chunk: string): void;
}

/** JSON Schema of an input: an object with the named fields and no others. Plain data, so loading it costs nothing. */
export type ToolInputSchema = {
  readonly type: "object";
  readonly required?: readonly string[];
  readonly properties: { readonly [field: string]: JsonObject };
  readonly additionalProperties: false;
};

/** The type of the input that a schema describes. */
export type ToolInput<Schema extends ToolInputSchema> = XStatic<Schema>;

/**
 * A tool of a hand. `plan` turns an input that passed the schema into a frozen plan, without effects; `run` carries a
 * frozen plan out. Both throw Faults.
 */
export interface HandTool<Schema extends ToolInputSchema = ToolInputSchema, P extends Plan = Plan> {
  /** snake_case, as the model calls it. */
  readonly name: string;
  readonly description: string;
  /** What the input must be; every string and number is bounded. */
  readonly parameters: Schema;
  /** Whether running it twice under one id is the same as running it once. */
  readonly idempotent: boolean;
  readonly effect: ToolEffect;
  /** Its description and schema come from a server of others: the server checks inputs, and the tool is this host's own. */
  readonly isForeign?: true;
  plan(input: ToolInput<Schema>, context: HandContext): Promise<P>;
  run(input: ToolInput<Schema>, execution: ToolExecution<P>): Promise<Outcome>;
}

/** Returns the tool unchanged; infers its types so that tool files need not write them twice. */
export function defineTool<const Schema extends ToolInputSchema, P extends Plan>(
  made: HandTool<Schema, P>,
): HandTool<Schema, P> {
  return made;
}

/** A tool as the brain and the model see it. */
export function specOf({ name, description, parameters, idempotent, effect, isForeign }: HandTool): ToolSpec {
  return { name, description, parameters, idempotent, effect, ...(isForeign === true ? { own: true } : {}) };
}
