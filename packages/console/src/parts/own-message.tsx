import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { RUN_LIMITS } from "@vidro/core";
import type { RunHead } from "@vidro/core";
import { faultWords, vidro } from "../brain/connection.ts";
import type { Edition } from "../run/editions.ts";
import { translate } from "../words/translate.ts";
import { MessageField } from "./message-field.tsx";
import { go, Link } from "./route.tsx";
import { visible } from "./text.tsx";

/** What an own message needs to be sent again with other words. */
export interface EditTarget {
  readonly run: string;
  /** The run still goes on; it is stopped first. */
  readonly isOpen: boolean;
  /** The address of the page that shows the new run. */
  readonly placeOf: (fork: RunHead) => string;
  /** All editions of the message, oldest first, where there are several. */
  readonly editions?: readonly Edition[] | undefined;
}

/** A message of a person, with a pencil; without `editTarget` it cannot be changed. */
export function OwnMessage(props: {
  readonly text: string;
  readonly files?: readonly string[] | undefined;
  readonly who?: string;
  readonly editTarget: EditTarget | undefined;
  /** The entry of a remark, which is told anew behind the entry before it; absent for the task. */
  readonly remarkSeq?: number;
}): ReactNode {
  const { text, files = [], who, editTarget, remarkSeq } = props;
  const [isEdited, setEdited] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  useEffect(() => {
    if (wasEdited.current && !isEdited) pencil.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  if (isEdited && editTarget !== undefined)
    return <EditForm text={text} remarkSeq={remarkSeq} editTarget={editTarget} back={() => setEdited(false)} />;
  return (
    <div className="own">
      <div className="said me">
        {who !== undefined && <div className="who">{who}</div>}
        <p className="prose">
          <bdi>{visible([text, ...files].join("\n"))}</bdi>
        </p>
      </div>
      {editTarget !== undefined && (
        <div className="own-tools">
          <button
            ref={pencil}
            type="button"
            className="icon"
            aria-label={translate("Edit and resend")}
            title={translate("Edit and resend")}
            onClick={() => setEdited(true)}
          >
            <Pencil />
          </button>
          {remarkSeq === undefined && <EditionSwitch run={editTarget.run} editions={editTarget.editions ?? []} />}
        </div>
      )}
    </div>
  );
}

/** The message in a field, in its place. */
function EditForm(props: {
  readonly text: string;
  readonly remarkSeq: number | undefined;
  readonly editTarget: EditTarget;
  readonly back: () => void;
}): ReactNode {
  const { text, remarkSeq, editTarget, back } = props;
  const [words, setWords] = useState(text);
  const [fault, setFault] = useState("");
  const [isBusy, setBusy] = useState(false);
  const isReady = words.trim() !== "" && !isBusy;
  const send = (): void => {
    if (!isReady) return;
    setBusy(true);
    setFault("");
    resend(editTarget, words.trim(), remarkSeq).then(
      (fork) => go(editTarget.placeOf(fork)),
      (thrown: unknown) => {
        setBusy(false);
        setFault(faultWords(thrown));
      },
    );
  };
  return (
    <form
      className="own-edit"
      aria-label={translate("Edit and resend")}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <MessageField
        words={words}
        change={setWords}
        send={send}
        chars={remarkSeq === undefined ? RUN_LIMITS.taskChars : RUN_LIMITS.remarkChars}
        back={back}
      />
      <div className="row">
        <button type="submit" className="do" disabled={!isReady}>
          {editTarget.isOpen ? translate("Stop and resend") : translate("Resend")}
        </button>
        <button type="button" onClick={back}>
          {translate("Back")}
        </button>
        <span className="quiet small grow">
          {translate("What was said and done before stays; the present version can be reached, too.")}
        </span>
      </div>
      {fault !== "" && (
        <p role="alert" className="fault">
          {fault}
        </p>
      )}
    </form>
  );
}

/** Starts a run with other words in the place of a task or of a remark; a run that is open is stopped first. */
async function resend({ run, isOpen }: EditTarget, text: string, remarkSeq?: number): Promise<RunHead> {
  const attached = vidro.attach(run);
  // A run that has ended by itself meanwhile needs no stop.
  if (isOpen) await attached.abort().catch(() => undefined);
  return attached.fork(remarkSeq === undefined ? { task: text } : { at: remarkSeq - 1, text });
}

/** Which version of a message is shown, and the way to the one before and behind it. */
function EditionSwitch({ run, editions }: { readonly run: string; readonly editions: readonly Edition[] }): ReactNode {
  const at = editions.findIndex(({ id }) => id === run);
  if (at === -1) return null;
  const [before, behind] = [editions[at - 1], editions[at + 1]];
  return (
    <nav className="versions" aria-label={translate("Versions of this message")}>
      <EditionLink to={before} label={translate("Version before")} sign="‹" />
      <span>{translate("{n} of {all}", { n: at + 1, all: editions.length })}</span>
      <EditionLink to={behind} label={translate("Next version")} sign="›" />
    </nav>
  );
}

function EditionLink(props: {
  readonly to: Edition | undefined;
  readonly label: string;
  readonly sign: string;
}): ReactNode {
  const { to, label, sign } = props;
  if (to === undefined) return <span aria-hidden="true">{sign}</span>;
  return (
    <Link to={`/chat/${to.thread}`} label={label}>
      {sign}
    </Link>
  );
}

function Pencil(): ReactNode {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path
        d="M11.3 2.2l2.5 2.5L5.5 13l-3.2.7.7-3.2zM9.7 3.8l2.5 2.5"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinejoin="round"
      />
    </svg>
  );
}
