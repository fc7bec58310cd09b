import { useCallback, useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { dollarWords, spanWords } from "@vidro/core/text";
import { faultWords, vidro } from "../brain/connection.ts";
import { useRun } from "../brain/run-journal.ts";
import type { RunView } from "../brain/run-journal.ts";
import type { Item } from "../run/conversation.ts";
import { ConversationItem, Thought } from "../parts/conversation-item.tsx";
import { ForkForm } from "../parts/fork-form.tsx";
import { JournalView } from "../parts/journal-view.tsx";
import { RunTree } from "../parts/run-tree.tsx";
import { SayForm } from "../parts/say-form.tsx";
import { Link } from "../parts/route.tsx";
import { Block, Line } from "../parts/text.tsx";
import { TimelineView } from "../parts/timeline-view.tsx";
import { useTitle } from "../parts/title.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { statusWords } from "../parts/words.ts";
import { countOf, localeNow, translate } from "../words/translate.ts";

/** The views of a run, by their names in the address. */
const VIEWS = ["conversation", "timeline", "journal"] as const;
const VIEW_NAMES = { conversation: "Conversation", timeline: "Timeline", journal: "Journal" } as const;

/** One run: three views of one journal. */
export function RunPage({ id, address }: { readonly id: string; readonly address: URL }): ReactNode {
  const run = useRun(id);
  const named = address.searchParams.get("view");
  const seq = Number(/^#seq=(\d+)$/.exec(address.hash)?.[1] ?? 0) || undefined;
  // An address with an entry alone means the entry in the journal.
  const view = VIEWS.find((name) => name === named) ?? (seq === undefined ? "conversation" : "journal");
  useTitle(run.state?.started.task ?? translate("Run"));
  return (
    <>
      <RunHeader run={run} />
      <RunTree run={run} />
      <nav className="tabs" aria-label={translate("Views of the run")}>
        {VIEWS.map((name) => (
          <Link key={name} to={`/runs/${id}?view=${name}`} current={name === view}>
            {translate(VIEW_NAMES[name])}{" "}
            {name === "journal" && <span className="quiet">{run.entries.length.toLocaleString(localeNow())}</span>}
          </Link>
        ))}
      </nav>
      {run.fault !== undefined && <p className="fault">{run.fault}</p>}
      {view === "conversation" && <LiveConversation run={run} />}
      {view === "timeline" && <TimelineView run={id} timeline={run.timeline} />}
      {view === "journal" && <JournalView run={id} entries={run.entries} target={seq} />}
    </>
  );
}

/** The status of a run, as the phase of its fold says it. */
export function statusOf({ state }: RunView): "running" | "asking" | "finished" | "failed" | "aborted" {
  if (state?.phase.name === "asking") return "asking";
  if (state?.phase.name !== "ended") return "running";
  const { type } = state.phase.end;
  return type === "run.finished" ? "finished" : type === "run.failed" ? "failed" : "aborted";
}

function RunHeader({ run }: { readonly run: RunView }): ReactNode {
  const { state, timeline } = run;
  const [fault, setFault] = useState("");
  if (state === undefined) return <h1>{translate("Reading the journal…")}</h1>;
  const status = statusOf(run);
  const [word, tone] = statusWords({ status });
  const { started, used } = state;
  const isOpen = status === "running" || status === "asking";
  const stop = (): void =>
    void vidro
      .attach(run.id)
      .abort()
      .catch((thrown: unknown) => setFault(faultWords(thrown)));
  return (
    <div className="head">
      <div className="grow">
        <h1>
          <Line text={started.task} />
        </h1>
        <div className="chips">
          <span className={`state ${tone}`} role="status">
            {word}
          </span>
          {status === "asking" && <Link to={`/runs/${run.id}#question`}>{translate("Go to the question")}</Link>}
          <span>{translate("{agent} with {model}", { agent: started.agent, model: started.model })}</span>
          <span>{translate("on {hand}", { hand: started.hand })}</span>
          <span>{countOf(used.steps, "step")}</span>
          <span>{countOf(used.actions, "action")}</span>
          <span>
            {countOf(used.tokens, "token")}
            {used.costUsd > 0 && ` · ${dollarWords(used.costUsd)}`}
          </span>
          <span>{spanWords(timeline.to - timeline.from)}</span>
        </div>
        {fault !== "" && <p className="fault">{fault}</p>}
      </div>
      <div className="row">
        <ForkForm run={run.id} />
        {isOpen && (
          <button type="button" className="no" onClick={stop}>
            {translate("Stop")}
          </button>
        )}
      </div>
    </div>
  );
}

const NEAR_END_PX = 160;

/** The conversation of one run with the line to say something; who reads at its end stays there while it grows. */
function LiveConversation({ run }: { readonly run: RunView }): ReactNode {
  const isAtEnd = useRef(location.hash === "#question");
  const status = statusOf(run);
  useEffect(() => {
    const look = (): void => {
      isAtEnd.current = scrollY + innerHeight > document.documentElement.scrollHeight - NEAR_END_PX;
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  useEffect(() => {
    if (isAtEnd.current) scrollTo(0, document.documentElement.scrollHeight);
  });
  return (
    <>
      <ConversationView run={run} />
      {(status === "running" || status === "asking") && <SayForm run={run.id} />}
    </>
  );
}

/** The conversation of a run, with what is only live at its end. */
export function ConversationView({ run }: { readonly run: RunView }): ReactNode {
  const agent = run.state?.started.agent ?? "";
  const { id } = run;
  const draw = useCallback((item: Item) => <ConversationItem run={id} agent={agent} item={item} />, [id, agent]);
  return (
    <div className="flow">
      <VirtualList
        items={run.conversation.items}
        guessPx={96}
        keyOf={seqOf}
        draw={draw}
        label={translate("Conversation")}
      />
      {run.thinking !== "" && <Thought text={lastLines(run.thinking)} isOpen />}
      {run.reply !== "" && <Block text={run.reply} lines={40} />}
      {run.output !== "" && <Block text={lastLines(run.output)} lines={12} />}
      {run.state !== undefined && statusOf(run) === "running" && (
        <p className="quiet working">{workingWords(run.state.phase.name)}</p>
      )}
    </div>
  );
}

function seqOf({ kind, seq }: Item): string {
  return `${kind}-${seq}`;
}

const LAST_LINES = 12;

function lastLines(text: string): string {
  return text.split("\n").slice(-LAST_LINES).join("\n");
}

function workingWords(phase: string): string {
  if (phase === "calling-model") return translate("The model thinks…");
  if (phase === "acting") return translate("The hand works…");
  if (phase === "backing-off") return translate("Waits before it tries again…");
  return translate("Works…");
}
