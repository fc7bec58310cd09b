import type { Outcome, Plan } from "@vidro/core";
import type { Static, TObject } from "typebox";
import type { Sandbox } from "../sandbox.ts";

/** What a tool knows of the hand it runs on. */
export interface Bench {
  /** Absolute, with symlinks resolved. */
  readonly workspace: string;
  /** The hand's own state folder (absolute, with symlinks resolved); no tool reads or writes in it. */
  readonly state: string;
  /** What holds a shell to its access, on a host that has such a thing. */
  readonly sandbox: Sandbox | undefined;
  /** The environment that processes get, rebuilt from an allowlist. */
  readonly env: { readonly [name: string]: string };
}

/** One piece of work: the frozen plan, and how to tell of it while it goes on. */
export interface Work<P extends Plan = Plan> {
  readonly plan: P;
  readonly bench: Bench;
  /** The action's id. */
  readonly action: string;
  /** Absolute path of the file that a process's whole output goes to; nobody has made it yet. */
  readonly spool: string;
  readonly signal: AbortSignal;
  /** Tells whoever watches; costs nothing when nobody does. */
  output(stream: "stdout" | "stderr", chunk: string): void;
}

/**
 * Something a hand can do. `plan` freezes an input that has passed the schema and has no effect; `run` carries a
 * frozen plan out. Both throw Faults, and nothing else on purpose.
 */
export interface Tool<Schema extends TObject = TObject, P extends Plan = Plan> {
  /** snake_case, as the model calls it. */
  readonly name: string;
  readonly description: string;
  /** The input; `additionalProperties: false`, every string and number bounded. */
  readonly parameters: Schema;
  /** Whether running it twice under one id is the same as running it once. */
  readonly idempotent: boolean;
  plan(input: Static<Schema>, bench: Bench): Promise<P>;
  run(input: Static<Schema>, work: Work<P>): Promise<Outcome>;
}

/** A tool as it is: gives each tool file its inferred types without writing them twice. */
export function tool<Schema extends TObject, P extends Plan>(made: Tool<Schema, P>): Tool<Schema, P> {
  return made;
}
