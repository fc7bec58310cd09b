import type { ReactNode } from "react";
import type { JsonObject } from "@vidro/core";
import { LANGUAGES, chooseLanguage, chosenLanguage, translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";
import { request } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { setPresence } from "../brain/presence.ts";
import type { Session } from "../brain/session.ts";
import { BrainParts } from "../parts/brain-parts.tsx";
import { useTitle } from "../parts/title.ts";
import { useTheme } from "../parts/theme.ts";
import type { Theme } from "../parts/theme.ts";
import { TokenList } from "../parts/token-list.tsx";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** How the console looks and speaks, the session, the tokens, and what the brain is made of. */
export function SettingsPage({ session }: { readonly session: Session }): ReactNode {
  useTitle(translate("Settings"));
  const { value: ready } = usePolled("ready", () => request("GET", "/readyz"));
  const signOut = (): void => void request("DELETE", "/console/session").finally(() => setPresence("signed-out"));
  const { scopes, isAdmin } = session;
  return (
    <>
      <h1>{translate("Settings")}</h1>
      <h2 className="label">{translate("Look and language")}</h2>
      <ThemeChoice />
      <LanguageChoice />
      <h2 className="label">{translate("Session")}</h2>
      <p>
        <TranslatedText
          phrase="Signed in as {owner} with {rights}."
          values={{
            owner: <b>{session.owner}</b>,
            rights: scopes.includes("*") ? translate("every right") : <bdi>{scopes.join(", ")}</bdi>,
          }}
        />
      </p>
      <p className="row">
        <button type="button" onClick={signOut}>
          {translate("Sign out")}
        </button>
      </p>
      {isAdmin && <TokenList />}
      <h2 className="label">{translate("Brain")}</h2>
      <BrainParts checks={checksIn(ready)} details={detailsIn(ready)} version={session.version} isAdmin={isAdmin} />
      <h2 className="label">{translate("About")}</h2>
      <p>
        <a href="/docs">{translate("Documentation")}</a> · <a href="/docs/api">{translate("The API")}</a> ·{" "}
        <TranslatedText phrase="settings: {command}" values={{ command: <code>vidro config list</code> }} />
      </p>
    </>
  );
}

function ThemeChoice(): ReactNode {
  const [theme, setTheme] = useTheme();
  return (
    <fieldset className="choice">
      <legend>{translate("Theme")}</legend>
      {THEMES.map((name) => (
        <label key={name}>
          <input type="radio" name="theme" checked={theme === name} onChange={() => setTheme(name)} />{" "}
          {translate(THEME_NAMES[name])}
        </label>
      ))}
    </fieldset>
  );
}

const THEME_NAMES = { system: "as the system", light: "light", dark: "dark" } as const;

function LanguageChoice(): ReactNode {
  const chosen = chosenLanguage();
  return (
    <fieldset className="choice">
      <legend>{translate("Language")}</legend>
      <label>
        <input
          type="radio"
          name="language"
          checked={chosen === undefined}
          onChange={() => void chooseLanguage(undefined)}
        />{" "}
        {translate("as the browser")}
      </label>
      {(Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]).map((name) => (
        <label key={name} lang={name}>
          <input type="radio" name="language" checked={chosen === name} onChange={() => void chooseLanguage(name)} />{" "}
          {LANGUAGES[name]}
        </label>
      ))}
    </fieldset>
  );
}

function checksIn(ready: JsonObject | undefined): JsonObject {
  return (ready?.["checks"] ?? {}) as JsonObject;
}

function detailsIn(ready: JsonObject | undefined): JsonObject {
  return (ready?.["details"] ?? {}) as JsonObject;
}
