import { PAGE_LIMITS } from "@vidro/core";
import type { Json, RunHead, SpendingRow } from "@vidro/core";
import { AgentApi } from "./agents.ts";
import { ConversationApi } from "./conversations.ts";
import { HandApi } from "./hands.ts";
import { HookApi } from "./hooks.ts";
import { KeptToolApi } from "./kept-tools.ts";
import { KnowledgeApi } from "./knowledge.ts";
import { BrainConnection } from "./brain-connection.ts";
import type { BrainConnectionOptions, ListPart } from "./brain-connection.ts";
import { Run } from "./run.ts";
import { runHeadOf, runHeadsOf, spendingRowsOf, toolRecordsOf } from "./records.ts";
import type { ToolRecord } from "./records.ts";
import { ScheduleApi } from "./schedules.ts";
import type { RunOptions } from "./run-options.ts";

/** Address and token for a brain; `retries` and `backoffMs` control how often requests are repeated. */
export type VidroOptions = BrainConnectionOptions;

/** Which runs to list. */
export interface ListOptions extends ListPart {
  readonly open?: boolean;
  readonly thread?: string;
  /** Only runs whose id ends so. */
  readonly ending?: string;
}

const CREATED = 201;

/** The client of a brain. Failures are VidroErrors; an aborted call rejects with the signal's reason. */
export class Vidro {
  readonly agents: AgentApi;
  readonly conversations: ConversationApi;
  readonly hands: HandApi;
  readonly hooks: HookApi;
  readonly keptTools: KeptToolApi;
  readonly knowledge: KnowledgeApi;
  readonly schedules: ScheduleApi;
  readonly #brain: BrainConnection;

  constructor(options: VidroOptions) {
    this.#brain = new BrainConnection(options);
    this.agents = new AgentApi(this.#brain);
    this.hands = new HandApi(this.#brain);
    this.hooks = new HookApi(this.#brain);
    this.keptTools = new KeptToolApi(this.#brain);
    this.knowledge = new KnowledgeApi(this.#brain);
    this.schedules = new ScheduleApi(this.#brain);
    this.conversations = new ConversationApi(this.#brain, (task, about) => this.run(task, about));
  }

  /** Starts a run; resolves when it is on the brain's disk. */
  async run(task: string, options: RunOptions = {}): Promise<Run> {
    const { head } = await this.start(task, options);
    return new Run(this.#brain, head.id, options.signal);
  }

  /** Starts a run; resolves to its status, and to whether its key had started it before. */
  async start(task: string, options: RunOptions = {}): Promise<{ readonly head: RunHead; readonly existed: boolean }> {
    const { key, signal, ...about } = options;
    const body = { task, ...about } as { readonly [name: string]: Json };
    const { json, status, repeated } = await this.#brain.request({
      method: "POST",
      path: "v1/runs",
      body,
      key,
      signal,
    });
    return { head: runHeadOf(json), existed: repeated || status !== CREATED };
  }

  /** A run that was started before, by its id; sends no request yet. */
  attach(id: string, options: { readonly signal?: AbortSignal } = {}): Run {
    return new Run(this.#brain, id, options.signal);
  }

  /** Lists runs, newest first; the newest hundred by default. */
  async list({ open, thread, ending, ...part }: ListOptions = {}): Promise<readonly RunHead[]> {
    return this.#brain.list(
      { path: "v1/runs", query: { open, thread, ending } },
      { limit: PAGE_LIMITS.runs, ...part },
      runHeadsOf,
    );
  }

  /** What models used and cost by day or thread, newest first. */
  async usage(
    by: "day" | "thread",
    { since, limit, signal }: { readonly since?: number; readonly limit?: number; readonly signal?: AbortSignal } = {},
  ): Promise<readonly SpendingRow[]> {
    const query = { by, since: since === undefined ? undefined : Math.floor(since), limit };
    return spendingRowsOf(await this.#brain.requestJson({ method: "GET", path: "v1/usage", query, signal }));
  }

  /** Lists the tools that runs may use. */
  async tools(part: ListPart = {}): Promise<readonly ToolRecord[]> {
    return this.#brain.list({ path: "v1/tools" }, part, toolRecordsOf);
  }
}
