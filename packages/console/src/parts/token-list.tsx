import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS, isObject, textIn } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { faultWords, request } from "../brain/connection.ts";
import { usePolled } from "../brain/polled.ts";
import { countOf, translate } from "../words/translate.ts";
import { Copy } from "./copy.tsx";
import { Line } from "./text.tsx";
import { clockWords } from "./words.ts";

/** The tokens of the brain, a form for a new one, and a button that revokes each. */
export function TokenList(): ReactNode {
  const { value, fault, refresh } = usePolled("tokens", readTokens, CONSOLE_LIMITS.catalogMs);
  const good = (value ?? []).filter((token) => token["revoked"] !== true);
  const revoked = (value ?? []).length - good.length;
  return (
    <>
      <h2 className="label">{translate("Tokens")}</h2>
      {fault !== undefined && <p className="fault">{fault}</p>}
      <section className="card list tokens" aria-label={translate("Tokens")}>
        {good.map((token) => (
          <TokenRow key={textIn(token, "token_id")} token={token} changed={refresh} />
        ))}
      </section>
      {revoked > 0 && (
        <p className="quiet small">{translate("{tokens} revoked", { tokens: countOf(revoked, "token") })}</p>
      )}
      <NewTokenForm made={refresh} />
    </>
  );
}

async function readTokens(): Promise<readonly JsonObject[]> {
  const { tokens } = await request("GET", "/v1/tokens");
  return Array.isArray(tokens) ? tokens.filter(isObject) : [];
}

function TokenRow({ token, changed }: { readonly token: JsonObject; readonly changed: () => void }): ReactNode {
  const [isSure, setSure] = useState(false);
  const [fault, setFault] = useState("");
  const id = textIn(token, "token_id") ?? "";
  const { scopes } = token;
  const expires = textIn(token, "expires_at");
  const revoke = (): void =>
    void request("DELETE", `/v1/tokens/${id}`).then(changed, (thrown: unknown) => setFault(faultWords(thrown)));
  return (
    <div className="token-row">
      <code title={id}>{id.slice(0, 8)}…</code>
      <b>
        <Line text={textIn(token, "owner") ?? ""} chars={40} />
      </b>
      <span className="grow quiet">
        <Line text={Array.isArray(scopes) ? scopes.join(", ") : ""} chars={200} />
        {expires !== undefined && ` · ${translate("until {time}", { time: clockWords(Date.parse(expires)) })}`}
      </span>
      <button type="button" className="small no" onClick={() => (isSure ? revoke() : setSure(true))}>
        {isSure ? translate("Revoke for good?") : translate("Revoke")}
      </button>
      {fault !== "" && <p className="fault">{fault}</p>}
    </div>
  );
}

/** What a new token may do, by what people want it for. */
const RIGHTS = {
  runs: { name: "start and watch runs", scopes: ["runs"] },
  approve: { name: "start runs and answer their questions", scopes: ["runs", "approve"] },
  all: { name: "everything", scopes: ["*"] },
} as const;

function NewTokenForm({ made }: { readonly made: () => void }): ReactNode {
  const [owner, setOwner] = useState("");
  const [right, setRight] = useState<keyof typeof RIGHTS>("runs");
  const [said, setSaid] = useState<{ readonly token?: string; readonly fault?: string }>({});
  const create = async (): Promise<void> => {
    const body = { scopes: [...RIGHTS[right].scopes], ...(owner.trim() === "" ? {} : { owner: owner.trim() }) };
    try {
      setSaid({ token: textIn(await request("POST", "/v1/tokens", body), "token") ?? "" });
      made();
    } catch (thrown) {
      setSaid({ fault: faultWords(thrown) });
    }
  };
  return (
    <form
      className="compose"
      aria-label={translate("New token")}
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <input
        aria-label={translate("Owner")}
        placeholder={translate("Whose token it is; empty: yours")}
        value={owner}
        onChange={({ target }) => setOwner(target.value)}
      />
      <select
        aria-label={translate("What it may do")}
        value={right}
        onChange={({ target }) => setRight(target.value as keyof typeof RIGHTS)}
      >
        {Object.entries(RIGHTS).map(([name, { name: words }]) => (
          <option key={name} value={name}>
            {translate(words)}
          </option>
        ))}
      </select>
      <button type="submit">{translate("Make a token")}</button>
      {said.fault !== undefined && <p className="fault">{said.fault}</p>}
      {said.token !== undefined && (
        <div className="new-token" role="status">
          <p>{translate("Keep it now: it is not shown again.")}</p>
          <pre className="command" tabIndex={0}>
            {said.token}
          </pre>
          <Copy text={said.token} label={translate("Copy")} />
        </div>
      )}
    </form>
  );
}
