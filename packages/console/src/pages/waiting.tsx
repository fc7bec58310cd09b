import type { ReactNode } from "react";
import { usePolled } from "../brain/polled.ts";
import { readQuestions } from "../brain/questions.ts";
import type { OpenQuestion } from "../brain/questions.ts";
import { QuestionCard } from "../parts/question-card.tsx";
import { Link } from "../parts/route.tsx";
import { Line, visible } from "../parts/text.tsx";
import { useTitle } from "../parts/title.ts";
import { agoWords, clockWords } from "../parts/words.ts";
import { translate } from "../words/translate.ts";

/** Every open question, oldest first. */
export function WaitingPage(): ReactNode {
  useTitle(translate("Waiting for you"));
  const { value: open, fault } = usePolled("questions", readQuestions);
  return (
    <>
      <h1>{translate("Waiting for you")}</h1>
      {fault !== undefined && <p className="fault">{fault}</p>}
      {open === undefined && fault === undefined && <p className="quiet">{translate("Reading the questions…")}</p>}
      {open?.length === 0 && (
        <p className="empty">
          {translate("Nothing waits for you. What changes something is asked here before it is done.")}
        </p>
      )}
      <div className="flow questions">
        {open?.map((one) => (
          <Question key={one.item.question.id} open={one} />
        ))}
      </div>
    </>
  );
}

function Question({ open: { run, item, said } }: { readonly open: OpenQuestion }): ReactNode {
  return (
    <div>
      <div className="chips">
        <Link to={`/runs/${run.id}`}>
          <Line text={run.task} chars={80} />
        </Link>
        <span title={clockWords(item.askedAt)}>{translate("asked {ago}", { ago: agoWords(item.askedAt) })}</span>
      </div>
      {said !== "" && (
        <p className="prose before">
          <bdi>{visible(said)}</bdi>
        </p>
      )}
      <QuestionCard run={run.id} item={item} />
    </div>
  );
}
