import type { ReactNode } from "react";
import type { Session } from "../brain/session.ts";
import { AgentsPage } from "./agents.tsx";
import { ChatPage } from "./chat.tsx";
import { HandsPage } from "./hands.tsx";
import { HomePage } from "./home.tsx";
import { RunPage } from "./run.tsx";
import { RunsPage } from "./runs.tsx";
import { SettingsPage } from "./settings.tsx";
import { WaitingPage } from "./waiting.tsx";

/** The page that an address names. */
export function PageOf({ address, session }: { readonly address: URL; readonly session: Session }): ReactNode {
  const [, page = "", id] = address.pathname.split("/").map(decodeURIComponent);
  if (page === "") return <HomePage />;
  if (page === "runs") return id === undefined ? <RunsPage /> : <RunPage key={id} id={id} address={address} />;
  if (page === "chat") return <ChatPage key={id ?? ""} thread={id} />;
  if (page === "waiting") return <WaitingPage />;
  if (page === "hands") return <HandsPage isAdmin={session.isAdmin} />;
  if (page === "agents") return <AgentsPage />;
  if (page === "settings") return <SettingsPage session={session} />;
  return <p className="empty">There is no such page.</p>;
}
