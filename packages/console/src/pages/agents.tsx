import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { AgentRecord } from "@vidro/client";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { AgentForm } from "../parts/agent-form.tsx";
import { Link } from "../parts/route.tsx";
import { Block, Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";

/** The agents: who does the work, with which words, model and tools. */
export function AgentsPage({ mayWrite }: { readonly mayWrite: boolean }): ReactNode {
  useTitle(translate("Agents"));
  const { value: agents, fault, refresh } = usePolled("agents", () => vidro.agents.list(), CONSOLE_LIMITS.catalogMs);
  const [isMaking, setMaking] = useState(false);
  const done = (): void => {
    setMaking(false);
    refresh();
  };
  return (
    <>
      <div className="head">
        <div className="grow">
          <h1>{translate("Agents")}</h1>
          <p className="quiet intro">
            <TranslatedText
              phrase="An agent is a file {file} in the brain's folder, or made here."
              values={{ file: <code>agents/*.md</code> }}
            />
          </p>
        </div>
        {mayWrite && (
          <button type="button" className={isMaking ? "" : "do"} onClick={() => setMaking(!isMaking)}>
            {isMaking ? translate("Close") : translate("New agent")}
          </button>
        )}
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {isMaking && (
        <section className="card new" aria-label={translate("New agent")}>
          <AgentForm agent={undefined} done={done} />
        </section>
      )}
      {agents === undefined && fault === undefined && <p className="quiet">{translate("Reading the list…")}</p>}
      <div className="flow">
        {agents?.map((agent) => (
          <AgentCard key={agent.uuid} agent={agent} mayWrite={mayWrite} changed={refresh} />
        ))}
      </div>
    </>
  );
}

function AgentCard(props: {
  readonly agent: AgentRecord;
  readonly mayWrite: boolean;
  readonly changed: () => void;
}): ReactNode {
  const { agent, mayWrite, changed } = props;
  const [isOpen, setOpen] = useState(false);
  const done = (): void => {
    setOpen(false);
    changed();
  };
  return (
    <section className="card" aria-label={agent.name.slice(0, 80)}>
      <header>
        <b className="grow">
          <Line text={agent.name} chars={80} />
        </b>
        {mayWrite && (
          <button type="button" className="small" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
            {isOpen ? translate("Close") : translate("Change")}
          </button>
        )}
        <Link to={`/chat?agent=${agent.uuid}`} className="button small">
          {translate("Talk")}
        </Link>
      </header>
      {isOpen && <AgentForm agent={agent} done={done} />}
      {agent.description !== null && (
        <p className="body">
          <Line text={agent.description} />
        </p>
      )}
      {agent.prompt !== null && (
        <div className="prompt">
          <Block text={agent.prompt} lines={4} />
        </div>
      )}
      <div className="facts">
        <span>
          <TranslatedText
            phrase="model {model}"
            values={{ model: <b>{agent.model === null ? translate("the brain's") : <Line text={agent.model} />}</b> }}
          />
        </span>
        <span>
          <TranslatedText
            phrase="tools {tools}"
            values={{
              tools: (
                <b>{agent.tools === null ? translate("all") : <Line text={agent.tools.join(", ")} chars={600} />}</b>
              ),
            }}
          />
        </span>
      </div>
    </section>
  );
}
