import { createHash } from "node:crypto";
import { join } from "node:path";
import { CATALOG_LIMITS, Fault } from "@vidro/core";
import { DIRECT } from "@vidro/core/run";
import type { Json, JsonObject, Records, StoredRecord } from "@vidro/core";
import { readAgents, SHIPPED_AGENTS } from "./agent-files.ts";
import type { AgentProfile, AgentFields, StoredAgent } from "./agent.ts";
import { BUNNY, BUNNY_UUID } from "./agent.ts";

/** Creation time of bunny. */
const BUNNY_SINCE = Date.UTC(2026, 10, 1);

/** The agent that carries out one command and decides nothing; it holds no conversations, so no list has it. */
const DIRECT_AGENT: AgentProfile = {
  name: DIRECT,
  description: "Carries out exactly the command or the call that it is given.",
  prompt: "",
  model: DIRECT,
  tools: ["command", "started_processes", "read_output", "stop_process"],
};

const KIND = "agent";

/**
 * The agents of a brain in three layers, of which later ones win: bunny, files, and agents made by callers. A name
 * belongs to one agent, since the uuid of an agent is derived from its name.
 */
export class AgentCatalog {
  readonly #records: Records;
  readonly #folders: readonly string[];
  #files: Promise<readonly StoredAgent[]> | undefined;

  /** `folders` hold files that describe agents; those of a later folder win. */
  constructor(records: Records, ...folders: readonly string[]) {
    this.#records = records;
    this.#folders = folders;
  }

  /** Reads the files, once; a Fault names a file that cannot be parsed. */
  async load(): Promise<void> {
    await this.#fromFiles();
  }

  /** Reads the files again; a Fault names a file that cannot be parsed, and the agents read before stay in force. */
  async reload(): Promise<void> {
    this.#files = Promise.resolve(await this.#read());
  }

  /** All agents, bunny first and the others by name. */
  async list(): Promise<readonly StoredAgent[]> {
    const records = await this.#records.list(KIND, { limit: CATALOG_LIMITS.agents });
    const layers = [bunny(), ...(await this.#fromFiles()), ...records.map(agentOf)];
    const [first, ...others] = new Map(layers.map((agent) => [agent.uuid, agent])).values();
    return [first!, ...others.sort((one, other) => one.name.localeCompare(other.name))];
  }

  /** The agent of that uuid or name; NOT_FOUND when there is none. */
  async find(uuidOrName: string): Promise<StoredAgent> {
    const found = await this.#find(UUID.test(uuidOrName) ? uuidOrName.toLowerCase() : agentUuid(uuidOrName));
    if (found === undefined) throw new Fault("NOT_FOUND", `There is no agent ${JSON.stringify(uuidOrName)}.`);
    return found;
  }

  /** Makes an agent; CONFLICT when its name is taken. */
  async create(draft: AgentFields, owner: string): Promise<StoredAgent> {
    const uuid = agentUuid(draft.name);
    const taken = new Fault("CONFLICT", `There is an agent named ${JSON.stringify(draft.name)} already.`);
    if ((await this.#find(uuid)) !== undefined) throw taken;
    if ((await this.#records.list(KIND, { limit: CATALOG_LIMITS.agents })).length >= CATALOG_LIMITS.agents)
      throw new Fault("CONFLICT", `There are ${CATALOG_LIMITS.agents} agents, which is as many as there may be.`);
    return agentOf(await this.#records.put({ kind: KIND, id: uuid, owner, body: bodyOf(draft) }, 0));
  }

  /** Replaces the fields of an agent; its name cannot change, since its uuid is derived from it. */
  async replace(uuidOrName: string, draft: AgentFields, owner: string): Promise<StoredAgent> {
    const { name, uuid } = await this.find(uuidOrName);
    if (uuid === agentUuid(DIRECT))
      throw new Fault("CONFLICT", `The agent ${JSON.stringify(name)} is defined by the brain and cannot be changed.`);
    if (agentUuid(draft.name) !== uuid)
      throw new Fault("CONFLICT", `The agent ${JSON.stringify(name)} keeps its name; make a new one for another name.`);
    return agentOf(await this.#records.put({ kind: KIND, id: uuid, owner, body: bodyOf(draft) }));
  }

  /** Deletes what callers stored for an agent; one that a file or the brain itself defines has that definition again. */
  async delete(uuidOrName: string): Promise<void> {
    const { name, uuid } = await this.find(uuidOrName);
    if (await this.#records.delete(KIND, uuid)) return;
    throw new Fault(
      "CONFLICT",
      `The agent ${JSON.stringify(name)} is defined by the brain or by a file and cannot be deleted.`,
    );
  }

  async #find(uuid: string): Promise<StoredAgent | undefined> {
    // Wins over agents of callers, since commands rely on it.
    if (uuid === agentUuid(DIRECT)) return builtIn(DIRECT_AGENT, uuid);
    const record = await this.#records.get(KIND, uuid);
    if (record !== undefined) return agentOf(record);
    const files = await this.#fromFiles();
    return files.findLast((agent) => agent.uuid === uuid) ?? (uuid === BUNNY_UUID ? bunny() : undefined);
  }

  #fromFiles(): Promise<readonly StoredAgent[]> {
    return (this.#files ??= this.#read());
  }

  async #read(): Promise<readonly StoredAgent[]> {
    const read = await Promise.all(this.#folders.map((folder) => readAgents(folder)));
    return read.flat().map((agent) => ({ ...agent, uuid: agentUuid(agent.name) }));
  }
}

/** The agents of a home folder: those shipped with Vidro, those of its files, and those made by callers. */
export function openAgentCatalog(home: string, records: Records): AgentCatalog {
  return new AgentCatalog(records, SHIPPED_AGENTS, join(home, "agents"));
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The uuid of a name, whatever its case: the same on every brain, so that no name is used twice. */
export function agentUuid(name: string): string {
  const bytes = createHash("sha256")
    .update(`vidro agent ${name.normalize("NFC").toLowerCase()}`)
    .digest();
  // Version 8 of RFC 9562: a uuid with a format of our own.
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function bunny(): StoredAgent {
  return builtIn(BUNNY, BUNNY_UUID);
}

function builtIn(agent: AgentProfile, uuid: string): StoredAgent {
  const { tools = null } = agent;
  return { ...agent, uuid, image: null, tools, createdAt: BUNNY_SINCE, updatedAt: BUNNY_SINCE };
}

function bodyOf(draft: AgentFields): JsonObject {
  const { name, description, prompt, model, image, tools } = draft;
  return { name, description, prompt, image, tools, ...(model === undefined ? {} : { model }) };
}

function agentOf({ id, body, createdAt, updatedAt }: StoredRecord): StoredAgent {
  const draft = body as Json as unknown as AgentFields;
  return { ...draft, uuid: id, createdAt, updatedAt };
}
