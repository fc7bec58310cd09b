import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import { textIn } from "@vidro/core";
import type { Action, JsonObject, QuestionAsked, Verdict } from "@vidro/core";
import { approvalAsked } from "@vidro/core/text";
import { faultWords, request } from "../brain/connection.ts";
import type { QuestionItem } from "../run/conversation.ts";
import { WordsForm } from "../parts/answers.tsx";
import { AskedCard } from "../parts/question-card.tsx";
import { Line } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { languageNow, translate } from "../words/translate.ts";

/** The code of the link. It stays in the address, so that a page that was closed can be opened again. */
const CODE = /^#code=([\w-]+)$/.exec(location.hash)?.[1] ?? "";

/** One question of one run for who holds its link: the exact plan, and yes or no. */
export function AnswerPage(): ReactNode {
  useTitle(approvalAsked(languageNow()));
  const [asked, setAsked] = useState<{ readonly task: string; readonly item: QuestionItem } | undefined>();
  const [done, setDone] = useState("");
  const [fault, setFault] = useState("");
  useEffect(() => {
    request("POST", "/answer/question", { code: CODE }).then(
      (answer) => setAsked({ task: textIn(answer, "task") ?? "", item: itemOf(answer) }),
      (thrown: unknown) => setFault(faultWords(thrown)),
    );
  }, []);
  const send = (answer: string): void => {
    setFault("");
    request("POST", "/answer", { code: CODE, answer }).then(
      () =>
        setDone(
          answer === "yes" ? translate("You said yes. It is done now.") : translate("You said no. It is not done."),
        ),
      (thrown: unknown) => setFault(faultWords(thrown)),
    );
  };
  return (
    <main className="answer-page" id="main">
      <div className="brand">
        <i />
        vidro
      </div>
      <h1>{asked === undefined ? translate("A question for you") : <Line text={asked.task} />}</h1>
      {done === "" && asked !== undefined && (
        <AskedCard item={asked.item}>
          <YesOrNo send={send} />
        </AskedCard>
      )}
      <p role="status">{done === "" ? "" : `${done} ${translate("This page can be closed.")}`}</p>
      <p role="alert" className="fault">
        {fault}
      </p>
    </main>
  );
}

function itemOf(said: JsonObject): QuestionItem {
  const { question, action, verdict, asked_at: askedAt } = said;
  return {
    kind: "question",
    seq: 0,
    askedAt: Number(askedAt),
    question: question as unknown as QuestionAsked,
    ...(action === undefined ? {} : { action: action as unknown as Action }),
    ...(verdict === undefined ? {} : { verdict: verdict as unknown as Verdict }),
  };
}

function YesOrNo({ send }: { readonly send: (answer: string) => void }): ReactNode {
  const [isTelling, setTelling] = useState(false);
  return (
    <div className="answers">
      {isTelling ? (
        <WordsForm isApproval isSent={false} send={send} back={() => setTelling(false)} />
      ) : (
        <div className="buttons">
          <button type="button" className="do" onClick={() => send("yes")}>
            {translate("Yes, once")}
          </button>
          <button type="button" className="no" onClick={() => send("no")}>
            {translate("No")}
          </button>
          <button type="button" onClick={() => setTelling(true)}>
            {translate("No, because…")}
          </button>
        </div>
      )}
    </div>
  );
}
