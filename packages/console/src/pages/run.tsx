import { useCallback, useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { countWords, spanWords } from "@vidro/core/text";
import { faultWords, vidro } from "../brain/connection.ts";
import { useRun } from "../brain/run-journal.ts";
import type { RunView } from "../brain/run-journal.ts";
import type { Item } from "../run/conversation.ts";
import { ConversationItem, Thought } from "../parts/conversation-item.tsx";
import { ForkForm } from "../parts/fork-form.tsx";
import { JournalView } from "../parts/journal-view.tsx";
import { SayForm } from "../parts/say-form.tsx";
import { Link } from "../parts/route.tsx";
import { Block, Line } from "../parts/text.tsx";
import { TimelineView } from "../parts/timeline-view.tsx";
import { useTitle } from "../parts/title.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { statusWords } from "../parts/words.ts";

/** The views of a run, by their names in the address. */
const VIEWS = ["conversation", "timeline", "journal"] as const;

/** One run: three views of one journal. */
export function RunPage({ id, address }: { readonly id: string; readonly address: URL }): ReactNode {
  const run = useRun(id);
  const named = address.searchParams.get("view");
  const view = VIEWS.find((name) => name === named) ?? "conversation";
  const seq = Number(/^#seq=(\d+)$/.exec(address.hash)?.[1] ?? 0) || undefined;
  useTitle(run.state?.started.task ?? "Run");
  return (
    <>
      <RunHeader run={run} />
      <nav className="tabs" aria-label="Views of the run">
        {VIEWS.map((name) => (
          <Link key={name} to={`/runs/${id}?view=${name}`} current={name === view}>
            {name[0]?.toUpperCase()}
            {name.slice(1)}{" "}
            {name === "journal" && <span className="quiet">{run.entries.length.toLocaleString("en")}</span>}
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
  if (state === undefined) return <h1>Reading the journal…</h1>;
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
          {status === "asking" && <Link to={`/runs/${run.id}#question`}>Go to the question</Link>}
          <span>
            {started.agent} with {started.model}
          </span>
          <span>on {started.hand}</span>
          <span>{countWords(used.steps, "step")}</span>
          <span>{countWords(used.actions, "action")}</span>
          <span>
            {countWords(used.tokens, "token")}
            {used.costUsd > 0 && ` · $${used.costUsd.toFixed(used.costUsd < 0.1 ? 4 : 2)}`}
          </span>
          <span>{spanWords(timeline.to - timeline.from)}</span>
        </div>
        {fault !== "" && <p className="fault">{fault}</p>}
      </div>
      <div className="row">
        <ForkForm run={run.id} />
        {isOpen && (
          <button type="button" className="no" onClick={stop}>
            Stop
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
      <VirtualList items={run.conversation.items} guessPx={96} keyOf={seqOf} draw={draw} label="Conversation" />
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
  if (phase === "calling-model") return "The model thinks…";
  if (phase === "acting") return "The hand works…";
  if (phase === "backing-off") return "Waits before it tries again…";
  return "Works…";
}
