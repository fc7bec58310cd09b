import { useDeferredValue, useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { KnowledgeRecord } from "@vidro/client";
import { faultWords, vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { Choice } from "../parts/choice.tsx";
import { Link } from "../parts/route.tsx";
import { Block, Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { agoWords, clockWords } from "../parts/words.ts";
import { translate } from "../words/translate.ts";

/** The findings of runs and people, with their sources; a person verifies or removes them. */
export function KnowledgePage(): ReactNode {
  useTitle(translate("Knowledge"));
  const [typed, setTyped] = useState("");
  const [status, setStatus] = useState("");
  const words = useDeferredValue(typed.trim());
  const {
    value: entries,
    fault,
    refresh,
  } = usePolled(`knowledge ${status} ${words}`, () => readEntries(words, status), CONSOLE_LIMITS.catalogMs);
  return (
    <>
      <h1>{translate("Knowledge")}</h1>
      <p className="quiet">
        {translate(
          "What models and people kept beyond one run. Later runs look it up; a model's word is no fact until a person has checked it.",
        )}
      </p>
      <div className="filters">
        <label className="filter">
          <span>{translate("Search")}</span>
          <input type="search" data-filter="" value={typed} onChange={({ target }) => setTyped(target.value)} />
        </label>
        <label className="filter">
          <span>{translate("State")}</span>
          <Choice
            label={translate("State")}
            first={translate("all")}
            others={[
              ["verified", translate("verified")],
              ["unverified", translate("not verified")],
            ]}
            value={status}
            choose={setStatus}
          />
        </label>
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {entries === undefined && fault === undefined && <p className="quiet">{translate("Reading the list…")}</p>}
      {entries?.length === 0 && <EmptyList isSearch={words !== "" || status !== ""} />}
      <div className="flow">
        {entries?.map((entry) => (
          <EntryCard key={entry.id} entry={entry} changed={refresh} />
        ))}
      </div>
    </>
  );
}

const STATES = ["verified", "unverified"] as const;

function readEntries(words: string, status: string): Promise<readonly KnowledgeRecord[]> {
  const only = STATES.find((one) => one === status);
  const part = { limit: CONSOLE_LIMITS.knowledge, ...(only === undefined ? {} : { status: only }) };
  return words === "" ? vidro.knowledge.list(part) : vidro.knowledge.search(words, part);
}

function EmptyList({ isSearch }: { readonly isSearch: boolean }): ReactNode {
  if (isSearch) return <p className="empty">{translate("No entry matches.")}</p>;
  return (
    <p className="empty">
      {translate("Nothing is kept yet. Models keep what they find; add something yourself:")}{" "}
      <code>vidro kb add "…"</code>
    </p>
  );
}

const TRUST = { model: "said by a model", person: "said by a person", program: "said by a program" } as const;

function EntryCard({ entry, changed }: { readonly entry: KnowledgeRecord; readonly changed: () => void }): ReactNode {
  const [fault, setFault] = useState("");
  const [isSure, setSure] = useState(false);
  const act = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work;
      changed();
    } catch (thrown) {
      setFault(faultWords(thrown));
    }
  };
  const isVerified = entry.status === "verified";
  return (
    <section className="card" aria-label={entry.title.slice(0, 80)}>
      <header>
        <b className="grow">
          <Line text={entry.title} />
        </b>
        <span className={isVerified ? "state ok" : "state asking"}>
          {isVerified ? translate("verified") : translate("not verified")}
        </span>
      </header>
      {entry.snippet !== "" && (
        <div className="prompt">
          <Block text={entry.snippet} lines={6} />
        </div>
      )}
      <div className="facts">
        <span>{translate(TRUST[entry.trust])}</span>
        {entry.source !== null && (
          <Link to={`/runs/${entry.source.run}#seq=${entry.source.seq}`}>{translate("its run")}</Link>
        )}
        <span title={clockWords(entry.at)}>{agoWords(entry.at)}</span>
        <Line text={entry.owner} chars={40} />
        {entry.tags.map((tag) => (
          <span key={tag} className="tag">
            <Line text={tag} chars={40} />
          </span>
        ))}
        <span className="grow" />
        {!isVerified && (
          <button type="button" className="small" onClick={() => void act(vidro.knowledge.verify(entry.id))}>
            {translate("Verify")}
          </button>
        )}
        <button
          type="button"
          className="small no"
          onClick={() => (isSure ? void act(vidro.knowledge.remove(entry.id)) : setSure(true))}
        >
          {isSure ? translate("Remove for good?") : translate("Remove")}
        </button>
        {fault !== "" && <p className="fault">{fault}</p>}
      </div>
    </section>
  );
}
