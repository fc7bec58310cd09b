import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import type { Approval, QuestionAsked } from "@vidro/core";
import { approvalAsked, approvalRows } from "@vidro/core/text";
import { faultWords, vidro } from "../brain/connection.ts";
import type { QuestionItem } from "../run/conversation.ts";
import { Diff, diffOf } from "./diff.tsx";
import { Block, visible } from "./text.tsx";
import { roundSpan } from "./words.ts";

/** A question to a person: exactly what is asked, and the ways to answer it. */
export function QuestionCard({ run, item }: { readonly run: string; readonly item: QuestionItem }): ReactNode {
  const { question, answer } = item;
  const isApproval = question.about.kind === "approval";
  if (answer !== undefined) return <Answered item={item} />;
  return (
    <section className="card ask" id={`seq-${item.seq}`} aria-label="A question for you">
      <header>
        <span className="grow">{isApproval ? approvalAsked(question.language) : "A question for you"}</span>
        <span className="end">{silenceWords(question)}</span>
      </header>
      {question.about.kind === "approval" && question.about.plan !== undefined ? (
        <PlanRows item={item} about={question.about} />
      ) : (
        <Block text={question.text} lines={40} />
      )}
      <Answers run={run} question={question} isApproval={isApproval} />
    </section>
  );
}

function silenceWords({ expiresAt }: QuestionAsked): string {
  return `silence means no in ${roundSpan(Math.max(0, expiresAt - Date.now()))}`;
}

/** The facts of a plan; a change of a file is shown as a diff. */
function PlanRows({ item, about }: { readonly item: QuestionItem; readonly about: Approval }): ReactNode {
  if (about.plan === undefined) return null;
  const verdict = item.verdict ?? {
    decision: "ask",
    rule: about.rule ?? "",
    class: about.class ?? "write",
    reason: "",
  };
  const diff = about.plan.kind === "file" && item.action !== undefined ? diffOf(item.action.input) : undefined;
  const rows = approvalRows(
    { plan: about.plan, verdict, action: item.action, ...(about.hand === undefined ? {} : { hand: about.hand }) },
    item.question.language,
  ).filter(([name, text]) => text !== "" && (diff === undefined || !diff.fields.includes(name)));
  return (
    <>
      {diff !== undefined && <Diff lines={diff.lines} />}
      <dl className="rows">
        {rows.map(([name, text], index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>
              <bdi>{visible(text)}</bdi>
            </dd>
          </div>
        ))}
        <div>
          <dt>plan</dt>
          <dd title={about.hash}>{about.hash.slice(0, 12)}…</dd>
        </div>
      </dl>
    </>
  );
}

/** Yes once, no, or no with a reason; a question with other options has those, and free text where any is valid. */
function Answers(props: {
  readonly run: string;
  readonly question: QuestionAsked;
  readonly isApproval: boolean;
}): ReactNode {
  const { run, question, isApproval } = props;
  const [words, setWords] = useState("");
  const [isTelling, setTelling] = useState(!isApproval && question.options.length === 0);
  const [fault, setFault] = useState("");
  const [isSent, setSent] = useState(false);
  const send = (text: string): void => {
    setSent(true);
    setFault("");
    vidro
      .attach(run)
      .answer({ text, question: question.id })
      .catch((thrown: unknown) => {
        setSent(false);
        setFault(faultWords(thrown));
      });
  };
  useAnswerKeys(isApproval && !isSent, send);
  const turn = isApproval ? (): void => setTelling(!isTelling) : undefined;
  return (
    <form
      className="answers"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() !== "") send(isApproval ? `no: ${words.trim()}` : words.trim());
      }}
    >
      {isTelling && (
        <label className="because">
          <span>{isApproval ? "No, because" : "Your answer"}</span>
          <input value={words} onChange={({ target }) => setWords(target.value)} autoFocus />
        </label>
      )}
      <div className="buttons">
        {isTelling ? (
          <button type="submit" className={isApproval ? "no" : "do"} disabled={isSent || words.trim() === ""}>
            {isApproval ? "No" : "Answer"}
          </button>
        ) : (
          <Options options={isApproval ? ["yes", "no"] : question.options} {...{ isApproval, isSent, send }} />
        )}
        {turn !== undefined && (
          <button type="button" disabled={isSent} onClick={turn}>
            {isTelling ? "Back" : "No, because…"}
          </button>
        )}
      </div>
      <p role="status" className={fault === "" ? "quiet small" : "fault"}>
        {fault === "" && isSent ? "Sent; the run goes on." : fault}
      </p>
    </form>
  );
}

function Options(props: {
  readonly options: readonly string[];
  readonly isApproval: boolean;
  readonly isSent: boolean;
  readonly send: (text: string) => void;
}): ReactNode {
  const { options, isApproval, isSent, send } = props;
  return options.map((option, index) => (
    <button
      key={option}
      type="button"
      disabled={isSent}
      className={index === 0 ? "do" : option === "no" ? "no" : ""}
      onClick={() => send(option)}
    >
      {labelOf(option, isApproval)}
    </button>
  ));
}

function labelOf(option: string, isApproval: boolean): ReactNode {
  if (!isApproval) return <bdi>{visible(option)}</bdi>;
  const isYes = option === "yes";
  return (
    <>
      {isYes ? "Yes, once" : "No"} <kbd>{isYes ? "y" : "n"}</kbd>
    </>
  );
}

/** `y` and `n` answer the question on the page, unless a person is typing. */
function useAnswerKeys(isOn: boolean, send: (text: string) => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.key === "y") send("yes");
      if (event.key === "n") send("no");
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}

function Answered({ item }: { readonly item: QuestionItem }): ReactNode {
  const { question, answer, seq } = item;
  const who = answer?.by === undefined ? "No answer in time" : `${answer.by} answered`;
  return (
    <div className="answered" id={`seq-${seq}`}>
      <span className="quiet">
        {question.about.kind === "approval" ? "May this be done?" : <bdi>{visible(question.text)}</bdi>}
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
