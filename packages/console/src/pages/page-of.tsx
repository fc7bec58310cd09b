import { lazy, Suspense, useEffect } from "react";
import type { ComponentType, ReactNode } from "react";
import { brainBack } from "../brain/presence.ts";
import type { Session } from "../brain/session.ts";
import { translate } from "../words/translate.ts";

/* Each page is a file of its own, loaded when it is first shown; the others follow when the browser has nothing to do. */

/** How a page is loaded; its file may be away with the brain. */
type LoadPage<Props> = () => Promise<{ readonly default: ComponentType<Props> }>;

const ALL: (() => Promise<unknown>)[] = [];

function page<Props>(load: LoadPage<Props>): ComponentType<Props> {
  ALL.push(load);
  return lazy(() =>
    load().catch(async () => {
      await brainBack();
      location.reload();
      return load();
    }),
  );
}

const Agents = page(async () => ({ default: (await import("./agents.tsx")).AgentsPage }));
const Chat = page(async () => ({ default: (await import("./chat.tsx")).ChatPage }));
const Hands = page(async () => ({ default: (await import("./hands.tsx")).HandsPage }));
const Home = page(async () => ({ default: (await import("./home.tsx")).HomePage }));
const Knowledge = page(async () => ({ default: (await import("./knowledge.tsx")).KnowledgePage }));
const PolicyView = page(async () => ({ default: (await import("./policy.tsx")).PolicyPage }));
const OneRun = page(async () => ({ default: (await import("./run.tsx")).RunPage }));
const AllRuns = page(async () => ({ default: (await import("./runs.tsx")).RunsPage }));
const Settings = page(async () => ({ default: (await import("./settings.tsx")).SettingsPage }));
const Waiting = page(async () => ({ default: (await import("./waiting.tsx")).WaitingPage }));

/** The page that an address names. */
export function PageOf(props: { readonly address: URL; readonly session: Session }): ReactNode {
  useEffect(() => {
    const idle = requestIdleCallback(() => {
      for (const load of ALL) load().catch(() => undefined);
    });
    return () => cancelIdleCallback(idle);
  }, []);
  return <Suspense fallback={<p className="loading">{translate("Opening…")}</p>}>{pageOf(props)}</Suspense>;
}

function pageOf({ address, session }: { readonly address: URL; readonly session: Session }): ReactNode {
  const [, name = "", id] = address.pathname.split("/").map(decodeURIComponent);
  const { isAdmin } = session;
  if (name === "") return <Home isAdmin={isAdmin} />;
  if (name === "runs") return id === undefined ? <AllRuns /> : <OneRun key={id} id={id} address={address} />;
  if (name === "chat") return <Chat key={id ?? ""} thread={id} />;
  if (name === "waiting") return <Waiting />;
  if (name === "hands") return <Hands isAdmin={isAdmin} />;
  if (name === "agents") return <Agents mayWrite={isAdmin || session.scopes.includes("agents:write")} />;
  if (name === "policy") return <PolicyView isAdmin={isAdmin} />;
  if (name === "knowledge") return <Knowledge />;
  if (name === "settings") return <Settings session={session} />;
  return <p className="empty">{translate("There is no such page.")}</p>;
}
