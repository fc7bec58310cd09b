import type { ReactNode } from "react";
import type { Session } from "../brain/session.ts";
import type { JsonObject } from "@vidro/core";
import { request } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { setPresence } from "../brain/presence.ts";
import { useTitle } from "../parts/title.ts";
import { useTheme } from "../parts/theme.ts";
import type { Theme } from "../parts/theme.ts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The session, the health of the brain, and how the console looks. */
export function SettingsPage({ session }: { readonly session: Session }): ReactNode {
  useTitle("Settings");
  const { value: ready } = usePolled("ready", () => request("GET", "/readyz"));
  const [theme, setTheme] = useTheme();
  const signOut = (): void => void request("DELETE", "/console/session").finally(() => setPresence("signed-out"));
  const { scopes } = session;
  return (
    <>
      <h1>Settings</h1>
      <h2 className="label">Look</h2>
      <fieldset className="choice">
        <legend>Theme</legend>
        {THEMES.map((name) => (
          <label key={name}>
            <input type="radio" name="theme" checked={theme === name} onChange={() => setTheme(name)} /> {name}
          </label>
        ))}
      </fieldset>
      <h2 className="label">Session</h2>
      <p>
        Signed in as <b>{session.owner}</b> with {scopes.includes("*") ? "every right" : scopes.join(", ")}.
      </p>
      <button type="button" onClick={signOut}>
        Sign out
      </button>
      <h2 className="label">Brain</h2>
      <Health ready={ready} version={session.version} />
      <p>
        <a href="/docs">Documentation</a> · <a href="/docs/api">the API</a> · tokens: <code>vidro tokens list</code> ·
        settings: <code>vidro config list</code>
      </p>
    </>
  );
}

function Health({ ready, version }: { readonly ready: JsonObject | undefined; readonly version: string }): ReactNode {
  const checks = Object.entries((ready?.["checks"] ?? {}) as JsonObject);
  return (
    <dl className="rows">
      <div>
        <dt>version</dt>
        <dd>{version}</dd>
      </div>
      {checks.map(([name, state]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className={`state ${state === "ok" ? "ok" : "bad"}`}>
              {state === "ok" || state === "degraded" ? state : "down"}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
