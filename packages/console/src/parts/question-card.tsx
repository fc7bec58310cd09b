import type { ReactNode } from "react";
import type { Approval, QuestionAsked } from "@vidro/core";
import { approvalAsked, approvalRows } from "@vidro/core/text";
import { useHandNames } from "../brain/hand-names.tsx";
import type { QuestionItem } from "../run/conversation.ts";
import { languageNow, translate } from "../words/translate.ts";
import { Answers } from "./answers.tsx";
import { Diff, diffOf } from "./diff.tsx";
import { PhoneLink } from "./phone-link.tsx";
import { visible, wholeText } from "./text.tsx";
import { roundSpan } from "./words.ts";

/** A question to a person: exactly what is asked, and the ways to answer it. */
export function QuestionCard({ run, item }: { readonly run: string; readonly item: QuestionItem }): ReactNode {
  if (item.answer !== undefined) return <AnsweredQuestion item={item} />;
  return (
    <AskedCard item={item}>
      <Answers run={run} item={item} />
      {item.question.about.kind === "approval" && <PhoneLink run={run} />}
    </AskedCard>
  );
}

/** Exactly what is asked; the ways to answer are its children. */
export function AskedCard({
  item,
  children,
}: {
  readonly item: QuestionItem;
  readonly children: ReactNode;
}): ReactNode {
  const { question } = item;
  const isApproval = question.about.kind === "approval";
  return (
    <section className="card ask" id={`seq-${item.seq}`} aria-label={translate("A question for you")}>
      <header>
        <span className="grow">{isApproval ? approvalAsked(languageNow()) : translate("A question for you")}</span>
        <span className="end">{silenceWords(question)}</span>
      </header>
      {question.about.kind === "approval" && question.about.plan !== undefined ? (
        <PlanRows item={item} about={question.about} />
      ) : (
        <div className="block">
          <pre tabIndex={0}>
            <bdi>{wholeText(question.text)}</bdi>
          </pre>
        </div>
      )}
      {children}
    </section>
  );
}

function silenceWords({ expiresAt }: QuestionAsked): string {
  return translate("silence means no in {span}", { span: roundSpan(Math.max(0, expiresAt - Date.now())) });
}

/** The facts of a plan; a change of a file is shown as a diff. */
function PlanRows({ item, about }: { readonly item: QuestionItem; readonly about: Approval }): ReactNode {
  const nameOf = useHandNames();
  if (about.plan === undefined) return null;
  const verdict = item.verdict ?? {
    decision: "ask",
    rule: about.rule ?? "",
    class: about.class ?? "write",
    reason: "",
  };
  const diff = about.plan.kind === "file" && item.action !== undefined ? diffOf(item.action.input) : undefined;
  const rows = approvalRows(
    {
      plan: about.plan,
      verdict,
      action: item.action,
      ...(about.hand === undefined ? {} : { hand: nameOf(about.hand) }),
    },
    languageNow(),
  ).filter(([name, text]) => text !== "" && (diff === undefined || !diff.fields.includes(name)));
  return (
    <>
      {diff !== undefined && <Diff lines={diff.lines} />}
      <dl className="rows">
        {rows.map(([name, text], index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>
              <bdi>{wholeText(text)}</bdi>
            </dd>
          </div>
        ))}
        <div>
          <dt>{translate("plan")}</dt>
          <dd title={about.hash}>{about.hash.slice(0, 12)}…</dd>
        </div>
      </dl>
    </>
  );
}

function AnsweredQuestion({ item }: { readonly item: QuestionItem }): ReactNode {
  const { question, answer, seq } = item;
  const who =
    answer?.by === undefined ? translate("No answer in time") : translate("{who} answered", { who: answer.by });
  return (
    <div className="answered" id={`seq-${seq}`}>
      <span className="quiet">
        {question.about.kind === "approval" ? approvalAsked(languageNow()) : <bdi>{visible(question.text)}</bdi>}
      </span>{" "}
      {who}
      {answer?.by === undefined ? "" : ": "}
      {answer?.by !== undefined && (
        <b>
          <bdi>{visible(answer.text)}</bdi>
        </b>
      )}
    </div>
  );
}
