import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS, parentOfThread } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import { readChatLine, readEditions } from "../brain/chat-line.ts";
import { faultWords, vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { useRun } from "../brain/run-journal.ts";
import { Composer } from "../parts/composer.tsx";
import { ToolSwitches } from "../parts/tool-switches.tsx";
import { go, Link } from "../parts/route.tsx";
import { useStayAtEnd } from "../parts/stay-at-end.ts";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { agoWords } from "../parts/words.ts";
import type { Edition } from "../run/editions.ts";
import { translate } from "../words/translate.ts";
import { ConversationView, isOpenRun, statusOf } from "./run.tsx";

/** A conversation with an agent, whose tools can be switched off and on between two messages. */
export function ChatPage({ thread }: { readonly thread: string | undefined }): ReactNode {
  useTitle(translate("Chat"));
  const {
    value: runs = [],
    fault,
    refresh,
  } = usePolled(`thread-${thread ?? ""}`, async () => (thread === undefined ? [] : readChatLine(thread)));
  const { value: editions } = usePolled("editions", readEditions, CONSOLE_LIMITS.catalogMs);
  const { value: tools = [] } = usePolled("tools", () => vidro.tools(), CONSOLE_LIMITS.catalogMs);
  const [off, setOff] = useState<ReadonlySet<string>>(new Set());
  const last = runs.at(-1);
  useLastTools(last, tools, setOff);
  const isFork = runs.some((run) => run.thread === thread && run.forked !== undefined);
  useStayAtEnd(thread !== undefined);
  const enabled = tools.map(({ name }) => name).filter((name) => !off.has(name));
  return (
    <>
      <div className="head">
        <h1 className="grow">{translate("Chat")}</h1>
        {thread !== undefined && (
          <Link to="/chat" className="button">
            {translate("New conversation")}
          </Link>
        )}
      </div>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {runs.map(({ id }) => (
        <ChatRun key={id} id={id} editions={editions?.get(id)} />
      ))}
      <Composer
        thread={thread}
        like={isFork ? last : undefined}
        tools={off.size === 0 ? undefined : enabled}
        sent={refresh}
      />
      <ToolSwitches
        title={translate("Tools of this conversation")}
        tools={tools}
        off={off}
        toggle={(name) =>
          setOff(
            (before) =>
              new Set([...before].includes(name) ? [...before].filter((one) => one !== name) : [...before, name]),
          )
        }
      />
      {thread === undefined && <Conversations />}
    </>
  );
}

/** Takes the switches of a conversation from its last run, once. */
function useLastTools(
  last: RunHead | undefined,
  tools: readonly { readonly name: string }[],
  setOff: (off: ReadonlySet<string>) => void,
): void {
  const [isTaken, setTaken] = useState(false);
  useEffect(() => {
    if (isTaken || last === undefined || tools.length === 0) return;
    setTaken(true);
    const first = async (): Promise<void> => {
      for await (const item of vidro.attach(last.id).follow({ live: false })) {
        if (!("entry" in item) || item.entry.event.type !== "run.started") return;
        const used = new Set(item.entry.event.tools.map(({ name }) => name));
        return setOff(new Set(tools.map(({ name }) => name).filter((name) => !used.has(name))));
      }
    };
    first().catch(() => undefined);
  }, [isTaken, last, tools, setOff]);
}

function ChatRun({
  id,
  editions,
}: {
  readonly id: string;
  readonly editions: readonly Edition[] | undefined;
}): ReactNode {
  const run = useRun(id);
  const [fault, setFault] = useState("");
  const tell = (thrown: unknown): void => setFault(faultWords(thrown));
  const stop = (): void => void vidro.attach(id).abort().catch(tell);
  const again = (): void => {
    const task = run.state?.started.task ?? "";
    vidro
      .attach(id)
      .fork({ task })
      .then((fork) => go(chatPlace(fork)), tell);
  };
  return (
    <section className="chat-run" aria-label={translate("One task of the conversation")} data-status={statusOf(run)}>
      <ConversationView run={run} placeOf={chatPlace} editions={editions} />
      <div className="row">
        <Link to={`/runs/${id}`} className="quiet small">
          {translate("The run")}
        </Link>
        {isOpenRun(run) ? (
          <button type="button" className="small no" onClick={stop}>
            {translate("Stop")}
          </button>
        ) : (
          <button type="button" className="small" onClick={again}>
            {translate("Try again")}
          </button>
        )}
        {run.fault !== undefined && <span className="fault">{run.fault}</span>}
        {fault !== "" && (
          <span role="alert" className="fault">
            {fault}
          </span>
        )}
      </div>
    </section>
  );
}

function chatPlace({ thread }: RunHead): string {
  return `/chat/${thread}`;
}

/** The conversations that there are, by their first task, and when something happened in them last. */
function Conversations(): ReactNode {
  const { value: runs } = usePolled("chats", () => vidro.list({ limit: CONSOLE_LIMITS.openRuns }));
  // A run that was delegated is no conversation of a person.
  const own = (runs ?? []).filter(({ thread }) => parentOfThread(thread) === undefined);
  const threads = Map.groupBy(own, ({ thread }) => thread);
  if (runs?.length === 0)
    return <p className="empty">{translate("No conversation yet: say above what should be done.")}</p>;
  return (
    <>
      <h2 className="label">{translate("Go on with")}</h2>
      <section className="card list" aria-label={translate("Conversations")}>
        {[...threads].slice(0, 8).map(([thread, of]) => (
          <Link key={thread} to={`/chat/${thread}`} className="item chat-item">
            <Line text={of.at(-1)?.task ?? ""} chars={160} />
            <span className="quiet small">{agoWords(of[0]?.updatedAt ?? 0)}</span>
          </Link>
        ))}
      </section>
    </>
  );
}
