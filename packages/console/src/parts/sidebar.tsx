import { useEffect, useRef } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { Session } from "../brain/session.ts";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";
import type { Phrase } from "../words/words.ts";
import { Link } from "./route.tsx";

const PAGES: readonly (readonly [path: string, name: Phrase])[] = [
  ["/", "Home"],
  ["/chat", "Chat"],
  ["/runs", "Runs"],
  ["/waiting", "Waiting for you"],
  ["/hands", "Hands"],
  ["/agents", "Agents"],
  ["/policy", "Policy"],
  ["/knowledge", "Knowledge"],
  ["/settings", "Settings"],
];

/** The way to every page, and how many questions wait. */
export function Sidebar({ path, session }: { readonly path: string; readonly session: Session }): ReactNode {
  const { value: waiting = 0 } = usePolled("count", async () => {
    const open = await vidro.list({ open: true, limit: CONSOLE_LIMITS.openRuns });
    return open.filter(({ status }) => status === "asking").length;
  });
  const pages = useRef<HTMLElement>(null);
  // On a narrow screen the pages are one row that scrolls: the one that is shown is in sight.
  useEffect(() => {
    pages.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    // Their count makes the row longer.
  }, [path, waiting]);
  return (
    <header className="side">
      <div className="brand">
        <i />
        vidro
      </div>
      <nav ref={pages} aria-label={translate("Pages")}>
        {PAGES.map(([to, name]) => (
          <Link key={to} to={to} current={to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`)}>
            {translate(name)}
            {to === "/waiting" && waiting > 0 && (
              <span className="badge" aria-label={translate("{n} open", { n: waiting })}>
                {waiting}
              </span>
            )}
          </Link>
        ))}
      </nav>
      <footer>
        {translate("brain {version}", { version: session.version })} · {session.owner}
        <br />
        <TranslatedText phrase="{key} shows the keys" values={{ key: <kbd>?</kbd> }} />
      </footer>
      <p className="hidden" role="status">
        {waiting > 0 ? translate("{n} waiting for you", { n: waiting }) : ""}
      </p>
    </header>
  );
}
