import type { StoredAgent } from "@vidro/brain";
import type { AgentRecord } from "@vidro/client";
import { brainAddress } from "./address.ts";
import type { BrainFlags } from "./address.ts";
import { folderAt } from "../program/folder.ts";
import { homeFolder } from "../program/settings.ts";
import { withBrain } from "./with-brain.ts";
import type { Catalog } from "./agent-api.ts";

/** Does some work with the agents of the brain that is meant: a named one, the running daemon, or this user's home. */
export async function withCatalog<Result>(
  flags: BrainFlags,
  work: (catalog: Catalog) => Promise<Result>,
): Promise<Result> {
  const address = await brainAddress(flags);
  if (address !== undefined) {
    const { remoteCatalog } = await import("./remote-agents.ts");
    return work(remoteCatalog(address));
  }
  return withBrain(async (brain) => {
    const { HomeAgents } = await import("@vidro/brain");
    const agents = new HomeAgents(homeFolder(), brain);
    return work({
      list: async () => (await agents.list()).map(told),
      find: async (uuidOrName) => told(await agents.find(uuidOrName)),
      create: async (draft) => told(await agents.create({ ...draft }, folderAt("."))),
      delete: (uuid) => agents.delete(uuid),
    });
  });
}

/** What was never said is nothing, and not an empty text. */
function told(agent: StoredAgent): AgentRecord {
  const { description, prompt, model = null } = agent;
  return { ...agent, description: description || null, prompt: prompt || null, model };
}
