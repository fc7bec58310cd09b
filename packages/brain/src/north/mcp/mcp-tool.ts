import type { HandCatalog, JsonObject } from "@vidro/core";
import type { AgentCatalog } from "../../catalog/agents.ts";
import type { Threads } from "../../catalog/threads.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Knowledge } from "../../knowledge/knowledge.ts";
import type { Runs } from "../../run/runs.ts";
import type { ApprovalRights } from "../approval-rights.ts";

/** Dependencies of the tools that the brain offers to programs. */
export interface McpDependencies extends ApprovalRights {
  readonly runs: Pick<Runs, "start" | "follow" | "read" | "find" | "list" | "answer" | "abort">;
  readonly threads: Pick<Threads, "find" | "cast">;
  readonly agents: Pick<AgentCatalog, "find">;
  readonly hands: Pick<HandCatalog, "list" | "choose" | "select">;
  readonly knowledge: Omit<Knowledge, "close">;
  /** The folder in which the local hand works. */
  readonly workspace: string;
  readonly version: string;
}

/** One call of a tool. */
export interface McpCall {
  readonly deps: McpDependencies;
  readonly caller: Caller;
  /** Aborted when nothing more can be told to the client. */
  readonly signal: AbortSignal;
  /** Aborted when the client has cancelled the call. */
  readonly cancelled: AbortSignal;
  /** Makes a call that is repeated under one `Idempotency-Key` find the run of the first. */
  readonly key: string | undefined;
  /** Tells the client how far the run is, where it has asked for that. */
  progress(step: number, message: string): void;
}

/** What a tool gives: text for a model, and the same as data. */
export interface McpOutcome {
  readonly text: string;
  readonly data: JsonObject;
  /** The call did not do what was asked. */
  readonly isError?: boolean;
}

/** A tool that the brain offers to programs. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
  /** The call may wait for a run, so that its answer is streamed. */
  readonly waits?: true;
  /** Carries out arguments that fit the schema; throws Faults. */
  call(input: JsonObject, call: McpCall): Promise<McpOutcome>;
}
