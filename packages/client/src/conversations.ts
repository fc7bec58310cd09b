import type { BrainConnection, ListPart } from "./brain-connection.ts";
import type { Run } from "./run.ts";
import { conversationOf, conversationsOf } from "./records.ts";
import type { ConversationRecord, ConversationMessage } from "./records.ts";
import type { RunOptions } from "./run-options.ts";

/** Starts a run of a conversation. */
export type StartRun = (task: string, options: RunOptions) => Promise<Run>;

/** Agent, tools and hand of a conversation. */
export interface ConversationOptions {
  /** The uuid of an agent; `bunny` when none is named. */
  readonly agent?: string;
  readonly tools?: readonly string[];
  /** Selector of the hand for its runs, as in `RunOptions`. */
  readonly hand?: string;
  readonly signal?: AbortSignal;
}

/** A conversation: each run sees the ones before it. */
export class Conversation {
  readonly id: string;
  /** The uuid of its agent. */
  readonly agent: string;
  /** Names of its tools; those of its agent when it names none. */
  readonly tools: readonly string[] | null;
  /** The messages when the conversation was read; empty in a list. */
  readonly messages: readonly ConversationMessage[];
  readonly #start: StartRun;

  constructor({ id, agent, tools, messages }: ConversationRecord, start: StartRun) {
    this.id = id;
    this.agent = agent;
    this.tools = tools;
    this.messages = messages;
    this.#start = start;
  }

  /** Starts the next run of the conversation. */
  async run(task: string, options: Omit<RunOptions, "agent" | "tools" | "thread"> = {}): Promise<Run> {
    return this.#start(task, { ...options, thread: this.id });
  }
}

/** The conversations of the caller. */
export class ConversationApi {
  readonly #brain: BrainConnection;
  readonly #start: StartRun;

  constructor(brain: BrainConnection, start: StartRun) {
    this.#brain = brain;
    this.#start = start;
  }

  /** Creates a conversation. */
  async create({ agent, tools, hand, signal }: ConversationOptions = {}): Promise<Conversation> {
    const body = {
      agent_uuid: agent ?? null,
      ...(tools === undefined ? {} : { tools_enabled: tools }),
      ...(hand === undefined ? {} : { metadata: { hand } }),
    };
    const made = await this.#brain.requestJson({ method: "POST", path: "v1/conversations", body, signal });
    return new Conversation(conversationOf(made), this.#start);
  }

  /** Lists conversations, newest first, without their messages. */
  async list(part: ListPart = {}): Promise<readonly Conversation[]> {
    const listed = await this.#brain.list({ path: "v1/conversations" }, part, conversationsOf);
    return listed.map((record) => new Conversation(record, this.#start));
  }

  /** Gets a conversation with its messages; NOT_FOUND when the caller has none of that id. */
  async find(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Conversation> {
    const path = `v1/conversations/${encodeURIComponent(id)}`;
    return new Conversation(
      conversationOf(await this.#brain.requestJson({ method: "GET", path, signal })),
      this.#start,
    );
  }
}
