import { PAGE_LIMITS } from "@vidro/core";
import type { Json, RunHead } from "@vidro/core";
import { Agents } from "./agents.ts";
import { Conversations } from "./conversations.ts";
import { Hands } from "./hands.ts";
import { Link } from "./link.ts";
import type { LinkOptions, ListPart } from "./link.ts";
import { Run } from "./run.ts";
import { headOf, headsOf, toolsOf } from "./wire.ts";
import type { Tool } from "./wire.ts";
import type { RunOptions } from "./run-options.ts";

/** Where the brain is and who asks; `retries` and `backoffMs` say how long it is tried for. */
export type VidroOptions = LinkOptions;

/** Which runs to list. */
export interface ListOptions extends ListPart {
  readonly open?: boolean;
  readonly thread?: string;
}

const CREATED = 201;

/** A brain, as seen from a program. Failures are VidroErrors; what a signal stops rejects with the signal's reason. */
export class Vidro {
  readonly agents: Agents;
  readonly conversations: Conversations;
  readonly hands: Hands;
  readonly #link: Link;

  constructor(options: VidroOptions) {
    this.#link = new Link(options);
    this.agents = new Agents(this.#link);
    this.hands = new Hands(this.#link);
    this.conversations = new Conversations(this.#link, (task, about) => this.run(task, about));
  }

  /** Starts a run; resolves when it is on the brain's disk. */
  async run(task: string, options: RunOptions = {}): Promise<Run> {
    const { head } = await this.start(task, options);
    return new Run(this.#link, head.id, options.signal);
  }

  /** Starts a run and tells how it stands, and whether its key had made it before. */
  async start(task: string, options: RunOptions = {}): Promise<{ readonly head: RunHead; readonly existed: boolean }> {
    const { key, signal, ...about } = options;
    const body = { task, ...about } as { readonly [name: string]: Json };
    const { json, status, repeated } = await this.#link.ask({ method: "POST", path: "v1/runs", body, key, signal });
    return { head: headOf(json), existed: repeated || status !== CREATED };
  }

  /** A run that was started before, by its id; nothing is asked yet. */
  attach(id: string, options: { readonly signal?: AbortSignal } = {}): Run {
    return new Run(this.#link, id, options.signal);
  }

  /** Runs, newest first; the newest hundred unless it is said how many. */
  async list({ open, thread, ...part }: ListOptions = {}): Promise<readonly RunHead[]> {
    return this.#link.list({ path: "v1/runs", query: { open, thread } }, { limit: PAGE_LIMITS.runs, ...part }, headsOf);
  }

  /** The tools that there are. */
  async tools(part: ListPart = {}): Promise<readonly Tool[]> {
    return this.#link.list({ path: "v1/tools" }, part, toolsOf);
  }
}
