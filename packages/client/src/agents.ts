import type { Link, ListPart } from "./link.ts";
import { agentOf, agentsOf } from "./wire.ts";
import type { Agent } from "./wire.ts";

/** What an agent is made of. */
export interface AgentDraft {
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

interface Signed {
  readonly signal?: AbortSignal;
}

/** The agents of a brain; changing them needs a token that may. */
export class Agents {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  /** All of them, or a part. */
  async list(part: ListPart = {}): Promise<readonly Agent[]> {
    return this.#link.list({ path: "v1/agents" }, part, agentsOf);
  }

  /** One of them; NOT_FOUND when there is no such agent. */
  async find(uuid: string, { signal }: Signed = {}): Promise<Agent> {
    return agentOf(await this.#link.json({ method: "GET", path: pathOf(uuid), signal }));
  }

  /** Makes one. */
  async create(draft: AgentDraft, { signal }: Signed = {}): Promise<Agent> {
    return agentOf(await this.#link.json({ method: "POST", path: "v1/agents", body: { ...draft }, signal }));
  }

  /** Replaces all of one but its uuid. */
  async replace(uuid: string, draft: AgentDraft, { signal }: Signed = {}): Promise<Agent> {
    return agentOf(await this.#link.json({ method: "PUT", path: pathOf(uuid), body: { ...draft }, signal }));
  }

  /** Deletes one. */
  async delete(uuid: string, { signal }: Signed = {}): Promise<void> {
    await this.#link.ask({ method: "DELETE", path: pathOf(uuid), signal });
  }
}

function pathOf(uuid: string): string {
  return `v1/agents/${encodeURIComponent(uuid)}`;
}
