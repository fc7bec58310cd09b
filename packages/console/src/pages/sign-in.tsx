import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { faultWords, request } from "../brain/connection.ts";
import { useTitle } from "../parts/title.ts";

/** Signs in with the code of the link that was opened, or with a token that a person types. */
export function SignInPage({
  code,
  done,
}: {
  readonly code: string | undefined;
  readonly done: () => void;
}): ReactNode {
  useTitle("Sign in");
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
          <span>Or a token</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={({ target }) => setToken(target.value)}
          />
        </label>
        <button type="submit" className="do" disabled={isBusy || token.trim() === ""}>
          Sign in
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
      <h1>Sign in</h1>
      <p>
        Open the link that <code>npm start</code> or <code>vidro console</code> prints. It signs one browser in, within
        a minute.
      </p>
    </>
  );
}
