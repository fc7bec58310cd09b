import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { isAway } from "./brain/connection.ts";
import { HandNames } from "./brain/hand-names.tsx";
import { brainBack, setPresence, usePresence } from "./brain/presence.ts";
import { readSession } from "./brain/session.ts";
import type { Session } from "./brain/session.ts";
import { Keys } from "./parts/keys.tsx";
import { useAddress } from "./parts/route.tsx";
import { Sidebar } from "./parts/sidebar.tsx";
import { AnswerPage } from "./pages/answer.tsx";
import { PageOf } from "./pages/page-of.tsx";
import { SignInPage } from "./pages/sign-in.tsx";
import { localeNow, translate } from "./words/translate.ts";
import { useLanguage } from "./words/translated.tsx";

/** The code of a sign-in link in the address; it is taken out of the address at once. */
function takeCode(): string | undefined {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? [];
  if (location.pathname === "/answer") return undefined;
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

const code = takeCode();

/** The page of a link that answers one question, which needs no session; else the console. */
export function App(): ReactNode {
  // Another language draws everything anew.
  const language = useLanguage();
  useEffect(() => {
    document.documentElement.lang = localeNow();
  }, [language]);
  return location.pathname === "/answer" ? <AnswerPage key={language} /> : <Console key={language} />;
}

/** The console: who is signed in, and the page that the address names. */
function Console(): ReactNode {
  const [session, setSession] = useState<Session | undefined>();
  const presence = usePresence();
  const address = useAddress();
  const [isAsked, setAsked] = useState(code !== undefined);
  const look = async (): Promise<void> => {
    for (;;) {
      try {
        setSession(await readSession());
        setAsked(false);
        return setPresence("here");
      } catch (thrown) {
        if (!isAway(thrown)) return setAsked(true);
        await brainBack();
      }
    }
  };
  useEffect(() => {
    if (code === undefined) void look();
  }, []);
  if (isAsked || presence === "signed-out") return <SignInPage code={code} done={() => void look()} />;
  if (session === undefined) return <p className="loading">{translate("Opening…")}</p>;
  return (
    <div className="app">
      <a className="skip" href="#main">
        {translate("To the page")}
      </a>
      <Sidebar path={address.pathname} session={session} />
      <main id="main" tabIndex={-1}>
        {presence === "away" && (
          <p className="banner" role="status">
            {translate("Reconnecting to the brain… nothing is lost: what happens meanwhile is shown when it is back.")}
          </p>
        )}
        <HandNames>
          <PageOf address={address} session={session} />
        </HandNames>
      </main>
      <Keys />
    </div>
  );
}
