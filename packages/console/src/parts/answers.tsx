import { useEffect, useRef, useState } from "react";
import type { ReactNode, RefObject } from "react";
import type { JsonObject } from "@vidro/core";
import { ALWAYS_YES, CHANGED_YES, RUN_WIDE_YES } from "@vidro/core/text";
import { faultWords, vidro } from "../brain/connection.ts";
import type { QuestionItem } from "../run/conversation.ts";
import { translate } from "../words/translate.ts";
import type { Phrase } from "../words/words.ts";
import { AlwaysForm } from "./always-form.tsx";
import { ChangeForm, isChangeable } from "./change-form.tsx";
import { visible } from "./text.tsx";

/** What a person is at: the options, the answer or the reason of a no, what is to run instead, or a rule to add. */
type AnswerStage = "nothing" | "words" | "change" | "always";

/** The options that open a form first. */
const FORMS: { readonly [option: string]: AnswerStage } = { [CHANGED_YES]: "change", [ALWAYS_YES]: "always" };

/** The ways to answer a question: its options, a no with a reason, a change; free text where any text is valid. */
export function Answers({ run, item }: { readonly run: string; readonly item: QuestionItem }): ReactNode {
  const { question, action } = item;
  const isApproval = question.about.kind === "approval";
  const first = !isApproval && question.options.length === 0 ? "words" : "nothing";
  const [typing, setTyping] = useState<AnswerStage>(first);
  const { isSent, fault, send } = useAnswer(run, question.id);
  const answers = useRef<HTMLDivElement>(null);
  const hasKeys = isApproval && !isSent;
  useAnswerKeys(answers, hasKeys, send);
  const back = first === "nothing" ? (): void => setTyping("nothing") : undefined;
  const options = question.options
    .filter((option) => option !== CHANGED_YES || isChangeable(action))
    .toSorted((one, other) => Number(isApproval && one === "no") - Number(isApproval && other === "no"));
  const choose = (option: string): void => {
    const form = isApproval ? FORMS[option] : undefined;
    if (form === undefined) send(option);
    else setTyping(form);
  };
  return (
    <div className="answers" ref={answers} data-answer-keys={hasKeys || undefined}>
      {typing === "words" && <WordsForm {...{ isApproval, isSent, send, back }} />}
      {typing === "change" && action !== undefined && (
        <ChangeForm action={action} isSent={isSent} send={(input) => send(CHANGED_YES, input)} back={back} />
      )}
      {typing === "always" && (
        <AlwaysForm run={run} isSent={isSent} send={() => send(ALWAYS_YES)} back={() => setTyping("nothing")} />
      )}
      {typing === "nothing" && (
        <div className="buttons">
          {options.map((option, index) => (
            <OptionButton
              key={option}
              option={option}
              isFirst={index === 0}
              isApproval={isApproval}
              isSent={isSent}
              choose={() => choose(option)}
            />
          ))}
          {isApproval && (
            <button type="button" disabled={isSent} onClick={() => setTyping("words")}>
              {translate("No, because…")}
            </button>
          )}
        </div>
      )}
      <p role="status" className={fault === "" ? "quiet small" : "fault"}>
        {fault === "" && isSent ? translate("Sent; the run goes on.") : fault}
      </p>
    </div>
  );
}

/** Sends one answer to a question; a refused one can be sent again. */
function useAnswer(
  run: string,
  question: string,
): { readonly isSent: boolean; readonly fault: string; readonly send: (text: string, input?: JsonObject) => void } {
  const [isSent, setSent] = useState(false);
  const [fault, setFault] = useState("");
  const send = (text: string, input?: JsonObject): void => {
    setSent(true);
    setFault("");
    vidro
      .attach(run)
      .answer({ text, question, ...(input === undefined ? {} : { input }) })
      .catch((thrown: unknown) => {
        setSent(false);
        setFault(faultWords(thrown));
      });
  };
  return { isSent, fault, send };
}

/** A line for the reason of a no, or for the answer to a question that takes any text. */
export function WordsForm(props: {
  readonly isApproval: boolean;
  readonly isSent: boolean;
  readonly send: (text: string) => void;
  readonly back: (() => void) | undefined;
}): ReactNode {
  const { isApproval, isSent, send, back } = props;
  const [words, setWords] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() !== "") send(isApproval ? `no: ${words.trim()}` : words.trim());
      }}
    >
      <label className="because">
        <span>{isApproval ? translate("No, because") : translate("Your answer")}</span>
        <input value={words} onChange={({ target }) => setWords(target.value)} autoFocus />
      </label>
      <div className="buttons">
        <button type="submit" className={isApproval ? "no" : "do"} disabled={isSent || words.trim() === ""}>
          {isApproval ? translate("No") : translate("Answer")}
        </button>
        {back !== undefined && (
          <button type="button" disabled={isSent} onClick={back}>
            {translate("Back")}
          </button>
        )}
      </div>
    </form>
  );
}

function OptionButton(props: {
  readonly option: string;
  readonly isFirst: boolean;
  readonly isApproval: boolean;
  readonly isSent: boolean;
  readonly choose: () => void;
}): ReactNode {
  const { option, isFirst, isApproval, isSent, choose } = props;
  const tone = isFirst ? "do" : option === "no" ? "no" : option === RUN_WIDE_YES ? "wide" : "";
  return (
    <button type="button" disabled={isSent} className={tone} onClick={choose}>
      {isApproval ? labelOf(option) : <bdi>{visible(option)}</bdi>}
    </button>
  );
}

function labelOf(option: string): ReactNode {
  const key = option === "yes" ? "y" : option === "no" ? "n" : undefined;
  return (
    <>
      {LABELS[option] === undefined ? <bdi>{visible(option)}</bdi> : translate(LABELS[option])}{" "}
      {key !== undefined && <kbd>{key}</kbd>}
    </>
  );
}

const LABELS: { readonly [option: string]: Phrase } = {
  yes: "Yes, once",
  no: "No",
  [RUN_WIDE_YES]: "Yes, for this run",
  [CHANGED_YES]: "Change it…",
  [ALWAYS_YES]: "Always…",
};

/**
 * `y` and `n` answer the only question on the page, unless a person is typing. Of several questions they answer the one
 * that has the focus: no key press answers two.
 */
function useAnswerKeys(answers: RefObject<HTMLDivElement | null>, isOn: boolean, send: (text: string) => void): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const isOnly = document.querySelectorAll("[data-answer-keys]").length === 1;
      if (!isOnly && answers.current?.contains(document.activeElement) !== true) return;
      if (event.key === "y") send("yes");
      if (event.key === "n") send("no");
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
}
