import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import type { AlwaysRecord } from "@vidro/client";
import { faultWords, vidro } from "../brain/connection.ts";
import { countOf, translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";
import { Link } from "./route.tsx";
import { Block, Line } from "./text.tsx";

/** The rule that an "always" would add, and the earlier actions that it would have allowed; then yes. */
export function AlwaysForm(props: {
  readonly run: string;
  readonly isSent: boolean;
  readonly send: () => void;
  readonly back: () => void;
}): ReactNode {
  const { run, isSent, send, back } = props;
  const [shown, setShown] = useState<AlwaysRecord | undefined>();
  const [fault, setFault] = useState("");
  useEffect(() => {
    vidro
      .attach(run)
      .always()
      .then(setShown, (thrown: unknown) => setFault(faultWords(thrown)));
  }, [run]);
  return (
    <div className="always">
      {shown === undefined && fault === "" && <p className="quiet">{translate("Reading the rule…")}</p>}
      {shown !== undefined && (
        <>
          <p>
            <TranslatedText
              phrase="This rule is added to the policy of {hand}:"
              values={{ hand: <b>{shown.hand}</b> }}
            />
          </p>
          <Block text={JSON.stringify(shown.rule, null, 2)} lines={20} />
          <PastActions shown={shown} />
        </>
      )}
      {fault !== "" && <p className="fault">{fault}</p>}
      <div className="buttons">
        <button type="button" className="do" disabled={isSent || shown === undefined} onClick={send}>
          {translate("Yes, always")}
        </button>
        <button type="button" disabled={isSent} onClick={back}>
          {translate("Back")}
        </button>
      </div>
    </div>
  );
}

function PastActions({ shown: { past, count } }: { readonly shown: AlwaysRecord }): ReactNode {
  if (count === 0) return <p className="quiet">{translate("No earlier action would have been allowed by it.")}</p>;
  return (
    <>
      <p className="quiet">
        {translate("{actions} would have been allowed by it:", { actions: countOf(count, "earlier action") })}
      </p>
      <ul>
        {past.map(({ run, seq, task }) => (
          <li key={`${run}-${seq}`}>
            <Link to={`/runs/${run}?view=journal#seq=${seq}`}>
              <Line text={task} chars={80} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
