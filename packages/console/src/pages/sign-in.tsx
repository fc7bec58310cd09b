import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { faultWords, request } from "../brain/connection.ts";
import { useTitle } from "../parts/title.ts";
import { translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";

/** Signs in with the code of the link that was opened, or with a token that a person types. */
export function SignInPage({
  code,
  done,
}: {
  readonly code: string | undefined;
  readonly done: () => void;
}): ReactNode {
  useTitle(translate("Sign in"));
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const [isBusy, setBusy] = useState(code !== undefined);
  const open = async (credential: { readonly code: string } | { readonly token: string }): Promise<void> => {
    setBusy(true);
    try {
      await request("POST", "/console/session", credential);
      done();
    } catch (thrown) {
      setFault(faultWords(thrown));
      setBusy(false);
    }
  };
  useEffect(() => {
    if (code !== undefined) void open({ code });
    // The code counts once.
  }, [code]);
  return (
    <main className="sign-in" id="main">
      <Greeting />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void open({ token: token.trim() });
        }}
      >
        <label>
          <span>{translate("Or a token")}</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={({ target }) => setToken(target.value)}
          />
        </label>
        <button type="submit" className="do" disabled={isBusy || token.trim() === ""}>
          {translate("Sign in")}
        </button>
      </form>
      <p role="alert" className="fault">
        {fault}
      </p>
    </main>
  );
}

function Greeting(): ReactNode {
  return (
    <>
      <div className="brand">
        <i />
        vidro
      </div>
      <h1>{translate("Sign in")}</h1>
      <p>
        <TranslatedText
          phrase="Open the link that {start} or {command} prints. It signs one browser in, within a minute."
          values={{ start: <code>npm start</code>, command: <code>vidro console</code> }}
        />
      </p>
    </>
  );
}
