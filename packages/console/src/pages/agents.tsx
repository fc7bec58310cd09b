import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { AgentRecord } from "@vidro/client";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { Link } from "../parts/route.tsx";
import { Block, Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";

/** The agents: who does the work, with which words, model and tools. */
export function AgentsPage(): ReactNode {
  useTitle("Agents");
  const { value: agents, fault } = usePolled("agents", () => vidro.agents.list(), CONSOLE_LIMITS.catalogMs);
  return (
    <>
      <h1>Agents</h1>
      <p className="quiet">
        An agent is a file <code>agents/*.md</code> in the brain&rsquo;s folder, or made by{" "}
        <code>vidro agents create</code>.
      </p>
      {fault !== undefined && <p className="fault">{fault}</p>}
      <div className="flow">
        {agents?.map((agent) => (
          <AgentCard key={agent.uuid} agent={agent} />
        ))}
      </div>
    </>
  );
}

function AgentCard({ agent }: { readonly agent: AgentRecord }): ReactNode {
  return (
    <section className="card" aria-label={agent.name.slice(0, 80)}>
      <header>
        <b className="grow">
          <Line text={agent.name} chars={80} />
        </b>
        <Link to={`/chat?agent=${agent.uuid}`} className="button">
          Talk
        </Link>
      </header>
      {agent.description !== null && (
        <p className="body">
          <Line text={agent.description} />
        </p>
      )}
      {agent.prompt !== null && <Block text={agent.prompt} lines={4} />}
      <div className="facts">
        <span>
          model <b>{agent.model ?? "the brain's"}</b>
        </span>
        <span>
          tools <b>{agent.tools === null ? "all" : agent.tools.join(", ")}</b>
        </span>
      </div>
    </section>
  );
}
