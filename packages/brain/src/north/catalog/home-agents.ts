import type { Hand, JsonObject, Records } from "@vidro/core";
import { openAgentCatalog } from "../../catalog/agents.ts";
import type { AgentCatalog } from "../../catalog/agents.ts";
import { LOCAL_OWNER } from "../../auth/caller.ts";
import { assertTools } from "../../catalog/threads.ts";
import type { StoredAgent } from "../../catalog/agent.ts";

/** Dependencies of HomeAgents. */
interface HomeBrain {
  readonly records: Records;
  /** The hand on this machine, for a workspace. */
  readonly hand: (workspace: string) => Promise<Hand>;
}

/** The agents of a home folder for the person at this machine, with the same checks as over HTTP. */
export class HomeAgents {
  readonly #agents: AgentCatalog;
  readonly #brain: Pick<HomeBrain, "hand">;

  constructor(home: string, brain: HomeBrain) {
    this.#agents = openAgentCatalog(home, brain.records);
    this.#brain = brain;
  }

  /** All agents, bunny first and the others by name. */
  list(): Promise<readonly StoredAgent[]> {
    return this.#agents.list();
  }

  /** The agent of that uuid or name; NOT_FOUND when there is none. */
  find(uuidOrName: string): Promise<StoredAgent> {
    return this.#agents.find(uuidOrName);
  }

  /** Makes an agent, whose tools are those of the hand for a workspace; BAD_ARGUMENTS names what does not fit. */
  async create(body: JsonObject, workspace: string): Promise<StoredAgent> {
    // Loaded with the first new agent: reading needs no schemas.
    const { checkedDraft } = await import("./agent-shape.ts");
    const draft = checkedDraft(body);
    if (draft.tools !== null) assertTools(draft.tools, (await this.#brain.hand(workspace)).tools);
    return this.#agents.create(draft, LOCAL_OWNER);
  }

  /** Deletes what callers stored for an agent; CONFLICT when there is nothing. */
  delete(uuidOrName: string): Promise<void> {
    return this.#agents.delete(uuidOrName);
  }
}
