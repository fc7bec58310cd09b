import type { BrainConnection, ListPart } from "./brain-connection.ts";
import { agentRecordOf, agentRecordsOf } from "./records.ts";
import type { AgentRecord } from "./records.ts";

/** What an agent is made of. */
export interface AgentInput {
  readonly name: string;
  readonly description?: string;
  /** The words that begin every prompt. */
  readonly prompt?: string;
  readonly model?: string;
  /** Names of its tools; all there are when it names none. */
  readonly tools?: readonly string[];
  /** The address of a picture. */
  readonly image?: string;
}

interface SignalOption {
  readonly signal?: AbortSignal;
}

/** The agents of a brain; changing them needs a token that may. */
export class AgentApi {
  readonly #brain: BrainConnection;

  constructor(brain: BrainConnection) {
    this.#brain = brain;
  }

  /** All of them, or a part. */
  async list(part: ListPart = {}): Promise<readonly AgentRecord[]> {
    return this.#brain.list({ path: "v1/agents" }, part, agentRecordsOf);
  }

  /** One of them; NOT_FOUND when there is no such agent. */
  async find(uuid: string, { signal }: SignalOption = {}): Promise<AgentRecord> {
    return agentRecordOf(await this.#brain.requestJson({ method: "GET", path: pathOf(uuid), signal }));
  }

  /** Makes one. */
  async create(draft: AgentInput, { signal }: SignalOption = {}): Promise<AgentRecord> {
    return agentRecordOf(
      await this.#brain.requestJson({ method: "POST", path: "v1/agents", body: { ...draft }, signal }),
    );
  }

  /** Replaces all of one but its uuid. */
  async replace(uuid: string, draft: AgentInput, { signal }: SignalOption = {}): Promise<AgentRecord> {
    return agentRecordOf(
      await this.#brain.requestJson({ method: "PUT", path: pathOf(uuid), body: { ...draft }, signal }),
    );
  }

  /** Deletes one. */
  async delete(uuid: string, { signal }: SignalOption = {}): Promise<void> {
    await this.#brain.request({ method: "DELETE", path: pathOf(uuid), signal });
  }
}

function pathOf(uuid: string): string {
  return `v1/agents/${encodeURIComponent(uuid)}`;
}
