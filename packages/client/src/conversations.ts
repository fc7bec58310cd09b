import type { BrainConnection, ListPart } from "./brain-connection.ts";
import type { Run } from "./run.ts";
import { conversationOf, conversationsOf } from "./records.ts";
import type { ConversationRecord, ConversationMessage } from "./records.ts";
import type { RunOptions } from "./run-options.ts";

/** Starts a run; how it is done is the client's business. */
export type StartRun = (task: string, options: RunOptions) => Promise<Run>;

/** Who speaks in a conversation, and with which tools. */
export interface ConversationOptions {
  /** The uuid of an agent; `bunny` when none is named. */
  readonly agent?: string;
  readonly tools?: readonly string[];
  /** Where its runs work, as in the options of a run. */
  readonly hand?: string;
  readonly signal?: AbortSignal;
}

/** Runs that know the ones before them. */
export class Conversation {
  readonly id: string;
  /** The uuid of its agent. */
  readonly agent: string;
  /** Names of its tools; those of its agent when it names none. */
  readonly tools: readonly string[] | null;
  /** What was said when the conversation was read; a list tells of none. */
  readonly messages: readonly ConversationMessage[];
  readonly #start: StartRun;

  constructor({ id, agent, tools, messages }: ConversationRecord, start: StartRun) {
    this.id = id;
    this.agent = agent;
    this.tools = tools;
    this.messages = messages;
    this.#start = start;
  }

  /** Says the next thing: a run that goes on from what was said before. */
  async run(task: string, options: Omit<RunOptions, "agent" | "tools" | "thread"> = {}): Promise<Run> {
    return this.#start(task, { ...options, thread: this.id });
  }
}

/** The conversations of whoever asks. */
export class ConversationApi {
  readonly #brain: BrainConnection;
  readonly #start: StartRun;

  constructor(brain: BrainConnection, start: StartRun) {
    this.#brain = brain;
    this.#start = start;
  }

  /** Begins one. */
  async create({ agent, tools, hand, signal }: ConversationOptions = {}): Promise<Conversation> {
    const body = {
      agent_uuid: agent ?? null,
      ...(tools === undefined ? {} : { tools_enabled: tools }),
      ...(hand === undefined ? {} : { metadata: { hand } }),
    };
    const made = await this.#brain.requestJson({ method: "POST", path: "v1/conversations", body, signal });
    return new Conversation(conversationOf(made), this.#start);
  }

  /** All of them, or a part, newest first and without what was said. */
  async list(part: ListPart = {}): Promise<readonly Conversation[]> {
    const listed = await this.#brain.list({ path: "v1/conversations" }, part, conversationsOf);
    return listed.map((record) => new Conversation(record, this.#start));
  }

  /** One of them with what was said in it; NOT_FOUND when there is none of that id, or it is another's. */
  async find(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Conversation> {
    const path = `v1/conversations/${encodeURIComponent(id)}`;
    return new Conversation(
      conversationOf(await this.#brain.requestJson({ method: "GET", path, signal })),
      this.#start,
    );
  }
}
