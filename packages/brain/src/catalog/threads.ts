import { randomUUIDv7 } from "node:crypto";
import { Fault } from "@vidro/core";
import type { Json, JsonObject, Records, Sampling, StoredRecord, ToolSpec } from "@vidro/core";
import type { AgentCatalog } from "./agents.ts";
import { BUNNY_UUID } from "./agent.ts";
import type { AgentProfile } from "./agent.ts";

/** Settings of a thread for each of its runs. */
interface RunCast {
  readonly owner: string;
  readonly thread: string;
  readonly agent: AgentProfile;
  /** Names of the tools that the run may use; the agent's when it is left out. */
  readonly tools?: readonly string[];
  readonly sampling?: Sampling;
}

/** A thread: its agent and tools. Its runs are in the journal. */
export interface Thread {
  readonly id: string;
  readonly owner: string;
  /** The uuid of its agent. */
  readonly agent: string;
  /** Names of its tools; those of its agent when null. */
  readonly tools: readonly string[] | null;
  /** Free data of its creator. */
  readonly metadata: JsonObject;
  /** Sampling parameters of the model of its runs. */
  readonly sampling?: Sampling;
  /** Selector of the hands of its runs; the local hand when left out. */
  readonly hand?: string;
  readonly createdAt: number;
}

/** Dependencies of Threads. */
interface ThreadsDependencies {
  readonly agents: Pick<AgentCatalog, "find">;
  /** The tools of the hands with these ids; those of the local hand when left out. */
  readonly tools: (ids?: string) => Promise<readonly ToolSpec[]>;
}

/** Fields of a new thread. */
export interface ThreadRequest {
  readonly owner: string;
  /** The uuid of an agent; bunny when it is left out. */
  readonly agent?: string | null;
  readonly tools?: readonly string[] | null;
  readonly metadata?: JsonObject;
  readonly sampling?: Sampling;
  /** Selector of the hands of its runs, and the ids of the hands that it selects now. */
  readonly hand?: { readonly selector: string; readonly ids: string };
}

const KIND = "thread";

/** The threads of all owners; each owner sees only its own. */
export class Threads {
  readonly #records: Records;
  readonly #deps: ThreadsDependencies;

  constructor(records: Records, deps: ThreadsDependencies) {
    this.#records = records;
    this.#deps = deps;
  }

  /** Makes a thread; NOT_FOUND when there is no such agent, BAD_ARGUMENTS naming a tool that does not exist. */
  async create({ owner, agent, tools, metadata, sampling, hand }: ThreadRequest): Promise<Thread> {
    const { uuid } = await this.#deps.agents.find(agent ?? BUNNY_UUID);
    if (tools) assertTools(tools, await this.#deps.tools(hand?.ids));
    const drawn = sampling === undefined ? {} : { sampling: { ...sampling } };
    const where = hand === undefined ? {} : { hand: hand.selector };
    const body = { agent: uuid, tools: tools ?? null, metadata: metadata ?? {}, ...drawn, ...where };
    return threadOf(await this.#records.put({ kind: KIND, id: randomUUIDv7(), owner, body }, 0));
  }

  /** The thread of that id; NOT_FOUND when there is none, or it belongs to another owner. */
  async find(id: string, owner: string): Promise<Thread> {
    const record = await this.#records.get(KIND, id);
    if (record?.owner !== owner) throw new Fault("NOT_FOUND", `There is no conversation ${JSON.stringify(id)}.`);
    return threadOf(record);
  }

  /** The threads of an owner, newest first, starting behind the thread `after`. */
  async list(owner: string, page: { readonly limit: number; readonly after?: string }): Promise<readonly Thread[]> {
    return (await this.#records.list(KIND, { ...page, owner, order: "newest" })).map(threadOf);
  }

  /** Settings for a run of the thread. */
  async cast(thread: Thread): Promise<RunCast> {
    const agent = await this.#deps.agents.find(thread.agent);
    const tools = thread.tools ?? agent.tools;
    const { owner, id, sampling } = thread;
    const drawn = sampling === undefined ? {} : { sampling };
    return { owner, thread: id, agent, ...(tools === null ? {} : { tools }), ...drawn };
  }
}

/** Refuses unknown tool names. */
export function assertTools(names: readonly string[], tools: readonly ToolSpec[]): void {
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown === undefined) return;
  const known = tools.map((tool) => tool.name).join(", ");
  throw new Fault("BAD_ARGUMENTS", `There is no tool named ${JSON.stringify(unknown)}. The tools are: ${known}.`);
}

function threadOf({ id, owner, body, createdAt }: StoredRecord): Thread {
  const kept = body as Json as unknown as Pick<Thread, "agent" | "tools" | "metadata" | "sampling" | "hand">;
  return { ...kept, id, owner, createdAt };
}
