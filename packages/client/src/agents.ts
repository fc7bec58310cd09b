import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { agentRecordOf, agentRecordsOf } from "./records.ts";
import type { AgentRecord } from "./records.ts";

/** The fields of an agent to create or replace. */
export interface AgentInput {
  readonly name: string;
  readonly description?: string;
  /** Text at the beginning of every prompt. */
  readonly prompt?: string;
  readonly model?: string;
  /** Names of its tools; all tools when absent. */
  readonly tools?: readonly string[];
  /** URL of a picture. */
  readonly image?: string;
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** The agents of a brain; changing them requires a token with that scope. */
export class AgentApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** Lists agents, all of them or a part. */
  async list(part: ListPart = {}): Promise<readonly AgentRecord[]> {
    return this.#brain.list({ path: "v1/agents" }, part, agentRecordsOf);
  }

  /** Gets one agent; NOT_FOUND when there is no such agent. */
  async find(uuid: string, { signal }: SignalOption = {}): Promise<AgentRecord> {
    return agentRecordOf(await this.#brain.requestJson({ method: "GET", path: pathOf(uuid), signal }));
  }

  /** Creates an agent. */
  async create(draft: AgentInput, { signal }: SignalOption = {}): Promise<AgentRecord> {
    return agentRecordOf(
      await this.#brain.requestJson({ method: "POST", path: "v1/agents", body: { ...draft }, signal }),
    );
  }

  /** Replaces all fields of an agent but its uuid. */
  async replace(uuid: string, draft: AgentInput, { signal }: SignalOption = {}): Promise<AgentRecord> {
    return agentRecordOf(
      await this.#brain.requestJson({ method: "PUT", path: pathOf(uuid), body: { ...draft }, signal }),
    );
  }

  /** Deletes an agent. */
  async delete(uuid: string, { signal }: SignalOption = {}): Promise<void> {
    await this.#brain.request({ method: "DELETE", path: pathOf(uuid), signal });
  }
}

function pathOf(uuid: string): string {
  return `v1/agents/${encodeURIComponent(uuid)}`;
}
