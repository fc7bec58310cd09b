import { HAND_LIMITS } from "@vidro/core";
import type { Confinement, JsonObject, Outcome, Plan, ToolEffect, Verdict } from "@vidro/core";
import type { XStatic } from "typebox/schema";
import { isInView, type Sandbox, type SandboxScope } from "../exec/sandbox.ts";

/** What a tool knows of the hand it runs on. */
export interface HandContext {
  /** Absolute, with symlinks resolved. */
  readonly workspace: string;
  /** The hand's own state folder (absolute, with symlinks resolved). */
  readonly state: string;
  /** Vidro's own folders on this host, the hand's among them: no tool reads or writes in them. */
  readonly reserved: () => readonly string[];
  /** What holds a shell to its access, on a host that has such a thing; looked for when it is first asked for. */
  readonly sandbox: () => Promise<Sandbox | undefined>;
  /** The environment that processes get, rebuilt from an allowlist. */
  readonly env: { readonly [name: string]: string };
  /** Memory that all processes of a command may have together. */
  readonly memoryBytes: () => number;
  /** What the hand's policy says of a plan: for a tool that meets more files than its own plan names. */
  readonly judge: (plan: Plan) => Verdict;
}

/** What a command of a context sees and touches when it is held. */
export function scopeOf(context: HandContext, confined: Confinement, cwd: string): SandboxScope {
  const { workspace, state, reserved, env } = context;
  const memoryBytes = Math.min(HAND_LIMITS.memoryBytes, context.memoryBytes());
  return { confined, workspace, state, reserved: reserved(), cwd, path: env["PATH"] ?? "", memoryBytes };
}

/** Whether this host has what holds a command, and the command would see the folder that it runs in. */
export async function canConfine(context: HandContext, confined: Confinement, cwd: string): Promise<boolean> {
  if ((await context.sandbox()) === undefined) return false;
  return confined === "facts" || isInView(cwd, scopeOf(context, confined, cwd));
}

/** One piece of work: the frozen plan, and how to tell of it while it goes on. */
export interface ToolExecution<P extends Plan = Plan> {
  readonly plan: P;
  readonly context: HandContext;
  /** The action's id. */
  readonly action: string;
  /** Absolute path of the file that a process's whole output goes to; nobody has made it yet. */
  readonly spool: string;
  readonly signal: AbortSignal;
  /** Tells whoever watches; costs nothing when nobody does. */
  output(stream: "stdout" | "stderr", chunk: string): void;
}

/** JSON Schema of an input: an object with named fields and nothing besides. Plain data, which loads at once. */
export type ToolInputSchema = {
  readonly type: "object";
  readonly required?: readonly string[];
  readonly properties: { readonly [field: string]: JsonObject };
  readonly additionalProperties: false;
};

/** The input that a schema describes, worked out by the type checker alone. */
export type ToolInput<Schema extends ToolInputSchema> = XStatic<Schema>;

/**
 * Something a hand can do. `plan` freezes an input that has passed the schema and has no effect; `run` carries a
 * frozen plan out. Both throw Faults, and nothing else on purpose.
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
  plan(input: ToolInput<Schema>, context: HandContext): Promise<P>;
  run(input: ToolInput<Schema>, execution: ToolExecution<P>): Promise<Outcome>;
}

/** A tool as it is: gives each tool file its inferred types without writing them twice. */
export function defineTool<const Schema extends ToolInputSchema, P extends Plan>(
  made: HandTool<Schema, P>,
): HandTool<Schema, P> {
  return made;
}
