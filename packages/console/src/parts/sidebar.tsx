import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import type { Session } from "../brain/session.ts";
import { vidro } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { Link } from "./route.tsx";

const PAGES: readonly (readonly [path: string, name: string])[] = [
  ["/", "Home"],
  ["/chat", "Chat"],
  ["/runs", "Runs"],
  ["/waiting", "Waiting for you"],
  ["/hands", "Hands"],
  ["/agents", "Agents"],
  ["/settings", "Settings"],
];

/** The way to every page, and how many questions wait. */
export function Sidebar({ path, session }: { readonly path: string; readonly session: Session }): ReactNode {
  const { value: waiting = 0 } = usePolled("count", async () => {
    const open = await vidro.list({ open: true, limit: CONSOLE_LIMITS.openRuns });
    return open.filter(({ status }) => status === "asking").length;
  });
  return (
    <header className="side">
      <div className="brand">
        <i />
        vidro
      </div>
      <nav aria-label="Pages">
        {PAGES.map(([to, name]) => (
          <Link key={to} to={to} current={to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`)}>
            {name}
            {to === "/waiting" && waiting > 0 && (
              <span className="badge" aria-label={`${waiting} open`}>
                {waiting}
              </span>
            )}
          </Link>
        ))}
      </nav>
      <footer>
        brain {session.version} · {session.owner}
        <br />
        <kbd>?</kbd> shows the keys
      </footer>
      <p className="hidden" role="status">
        {waiting > 0 ? `${waiting} waiting for you` : ""}
      </p>
    </header>
  );
}
