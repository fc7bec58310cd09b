import { useCallback, useMemo, useState } from "react";
import type { ReactNode } from "react";
import type { RunHead } from "@vidro/core";
import { DIRECT } from "@vidro/core/run";
import { dollarWords, spanWords } from "@vidro/core/text";
import { faultWords, vidro } from "../brain/connection.ts";
import { useAwayHand, useHandNames } from "../brain/hand-names.tsx";
import { useRun } from "../brain/run-journal.ts";
import type { RunView } from "../brain/run-journal.ts";
import type { Item } from "../run/conversation.ts";
import type { Edition } from "../run/editions.ts";
import { ConversationItem, SpokenText, Thought } from "../parts/conversation-item.tsx";
import { Copy } from "../parts/copy.tsx";
import { ForkForm } from "../parts/fork-form.tsx";
import { JournalView } from "../parts/journal-view.tsx";
import { useNow } from "../parts/now.ts";
import { RunTree } from "../parts/run-tree.tsx";
import { SayForm } from "../parts/say-form.tsx";
import { useStayAtEnd } from "../parts/stay-at-end.ts";
import { Link } from "../parts/route.tsx";
import { Block, Line } from "../parts/text.tsx";
import { TimelineView } from "../parts/timeline-view.tsx";
import { useTitle } from "../parts/title.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { shortId, statusWords } from "../parts/words.ts";
import { countOf, localeNow, translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";

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
  useTitle(run.state?.started.task ?? translate("The run"));
  const isOpen = isOpenRun(run);
  const now = useNow(isOpen);
  const timeline = isOpen ? { ...run.timeline, to: Math.max(now, run.timeline.to) } : run.timeline;
  if (run.state === undefined) return <RunUnread fault={run.fault} />;
  return (
    <>
      <RunHeader run={run} tookMs={timeline.to - timeline.from} />
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
      {view === "timeline" && <TimelineView run={id} timeline={timeline} />}
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

/** Whether a run that was read still goes on. */
export function isOpenRun(run: RunView): boolean {
  return run.state !== undefined && run.state.phase.name !== "ended";
}

/** A run whose journal is not there yet, or cannot be read. */
function RunUnread({ fault }: { readonly fault: string | undefined }): ReactNode {
  return (
    <>
      <h1>{fault === undefined ? translate("Reading the journal…") : translate("The run")}</h1>
      {fault !== undefined && <p className="fault">{fault}</p>}
    </>
  );
}

function RunHeader({ run, tookMs }: { readonly run: RunView; readonly tookMs: number }): ReactNode {
  const { state } = run;
  const [fault, setFault] = useState("");
  const nameOf = useHandNames();
  if (state === undefined) return null;
  const status = statusOf(run);
  const [word, tone] = statusWords({ status });
  const { started, used } = state;
  const stop = (): void =>
    void vidro
      .attach(run.id)
      .abort()
      .catch((thrown: unknown) => setFault(faultWords(thrown)));
  return (
    <div className="head run-head">
      <div className="grow">
        <h1 title={started.task.slice(0, TITLE_CHARS)}>
          <Line text={started.task} />
        </h1>
        <div className="chips">
          <span className={`state ${tone}`} role="status">
            {word}
          </span>
          {status === "asking" && <Link to={`/runs/${run.id}#question`}>{translate("Go to the question")}</Link>}
          <span>{translate("{agent} with {model}", { agent: started.agent, model: chainWords(started.model) })}</span>
          <span>
            <TranslatedText
              phrase="on {hand}"
              values={{ hand: <Link to="/hands">{nameOf(started.hand).slice(0, TITLE_CHARS)}</Link> }}
            />
          </span>
          <span>{countOf(used.steps, "step")}</span>
          <span>{countOf(used.actions, "action")}</span>
          <span>
            {countOf(used.tokens, "token")}
            {used.costUsd > 0 && ` · ${dollarWords(used.costUsd)}`}
          </span>
          <span>{spanWords(tookMs)}</span>
          <Copy text={run.id} label={shortId(run.id)} isQuiet />
        </div>
        {fault !== "" && <p className="fault">{fault}</p>}
      </div>
      <div className="row">
        <ForkForm run={run.id} />
        {isOpenRun(run) && (
          <button type="button" className="no" onClick={stop}>
            {translate("Stop")}
          </button>
        )}
      </div>
    </div>
  );
}

const TITLE_CHARS = 300;

/** The models that are asked one after the other. */
function chainWords(models: string): string {
  return models.split(",").join(" → ");
}

/** The conversation of one run with the line to say something. */
function LiveConversation({ run }: { readonly run: RunView }): ReactNode {
  useStayAtEnd(location.hash === "#question");
  return (
    <>
      <ConversationView run={run} placeOf={runPlace} />
      {isOpenRun(run) && <SayForm run={run.id} />}
    </>
  );
}

function runPlace({ id }: RunHead): string {
  return `/runs/${id}`;
}

/** The conversation of a run, with what is only live at its end. */
export function ConversationView(props: {
  readonly run: RunView;
  /** The page that shows a run that was started with other words. */
  readonly placeOf: (fork: RunHead) => string;
  readonly editions?: readonly Edition[] | undefined;
}): ReactNode {
  const { run, placeOf, editions } = props;
  const { agent = "", parent } = run.state?.started ?? {};
  const { id } = run;
  const isOpen = isOpenRun(run);
  const away = useAwayHand(run.state?.started.hand ?? "");
  // The words of a helper's task are a model's, and those of a direct run are a command.
  const isOwn = run.state !== undefined && parent === undefined && agent !== DIRECT;
  const editTarget = useMemo(
    () => (isOwn ? { run: id, isOpen, placeOf, editions } : undefined),
    [isOwn, id, isOpen, placeOf, editions],
  );
  const draw = useCallback(
    (item: Item) => <ConversationItem run={id} agent={agent} item={item} editTarget={editTarget} />,
    [id, agent, editTarget],
  );
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
      {run.reply !== "" && <LiveReply agent={agent} text={run.reply} />}
      {run.output !== "" && <Block text={lastLines(run.output)} lines={12} isOutput />}
      {run.state !== undefined && statusOf(run) === "running" && (
        <p className="quiet working">
          {away === undefined
            ? workingWords(run.state.phase.name)
            : translate("{hand} is away; the run goes on when it is back.", { hand: away })}
        </p>
      )}
    </div>
  );
}

/** The reply that is being written; a model without calls of tools writes its wish as JSON. */
function LiveReply({ agent, text }: { readonly agent: string; readonly text: string }): ReactNode {
  if (text.trimStart().startsWith("{")) return <Block text={text} lines={40} />;
  return <SpokenText className="said" who={agent} text={text} isRich />;
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
