import { useState } from "react";
import type { ReactNode } from "react";
import { DIRECT, directTask } from "@vidro/core/run";
import type { HandRecord } from "@vidro/client";
import { faultWords, vidro } from "../brain/connection.ts";
import { wordsOfLine } from "../run/command-line.ts";
import { translate } from "../words/translate.ts";
import { go } from "./route.tsx";

/** The gateway whose hands sign their messages, so that they have a key that can be changed. */
const SIGNING = "agent-http";

/** What can be done with a hand: run a command there, change its key, and keep it from work. */
export function HandActions(props: {
  readonly hand: HandRecord;
  readonly isAdmin: boolean;
  readonly changed: () => void;
}): ReactNode {
  const { hand, isAdmin, changed } = props;
  const [said, setSaid] = useState<{ readonly fault?: string; readonly done?: string }>({});
  const [isRunning, setRunning] = useState(false);
  const act = async (work: Promise<unknown>, done = ""): Promise<void> => {
    setSaid({});
    try {
      await work;
      setSaid({ done });
      changed();
    } catch (thrown) {
      setSaid({ fault: faultWords(thrown) });
    }
  };
  const mayChange = isAdmin && hand.barred !== "revoked" && hand.id !== "local";
  return (
    <>
      {isRunning && <CommandForm hand={hand} back={() => setRunning(false)} />}
      <div className="row">
        {!isRunning && hand.state === "ok" && hand.barred === null && (
          <button type="button" className="small" onClick={() => setRunning(true)}>
            {translate("Run a command…")}
          </button>
        )}
        {mayChange && hand.gateway === SIGNING && (
          <button
            type="button"
            className="small"
            onClick={() =>
              void act(vidro.hands.rotateKey(hand.id), translate("Its next message is signed with a new key."))
            }
          >
            {translate("New key")}
          </button>
        )}
        {mayChange && <BarButtons hand={hand} act={(work) => void act(work)} />}
      </div>
      <p role="status" className={said.fault === undefined ? "quiet small" : "fault"}>
        {said.fault ?? said.done ?? ""}
      </p>
    </>
  );
}

function BarButtons({
  hand,
  act,
}: {
  readonly hand: HandRecord;
  readonly act: (work: Promise<unknown>) => void;
}): ReactNode {
  const [isSure, setSure] = useState(false);
  return (
    <>
      {hand.barred === "quarantined" ? (
        <button type="button" className="small" onClick={() => act(vidro.hands.release(hand.id))}>
          {translate("Let it work again")}
        </button>
      ) : (
        <button type="button" className="small" onClick={() => act(vidro.hands.quarantine(hand.id))}>
          {translate("Quarantine")}
        </button>
      )}
      <button
        type="button"
        className="small no"
        onClick={() => (isSure ? act(vidro.hands.revoke(hand.id)) : setSure(true))}
      >
        {isSure ? translate("Revoke for good?") : translate("Revoke")}
      </button>
    </>
  );
}

/** One command for a hand, without a model; the policy of the host decides, and its run shows what came of it. */
function CommandForm({ hand, back }: { readonly hand: HandRecord; readonly back: () => void }): ReactNode {
  const [line, setLine] = useState("");
  const [fault, setFault] = useState("");
  const start = (): void => {
    const argv = wordsOfLine(line);
    if (argv === undefined) return setFault(translate("A quote is open."));
    vidro.run(directTask(argv), { agent: DIRECT, hand: hand.id }).then(
      ({ id }) => go(`/runs/${id}`),
      (thrown: unknown) => setFault(faultWords(thrown)),
    );
  };
  return (
    <form
      className="compose command-form"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <input
        aria-label={translate("Command")}
        placeholder="df -h"
        spellCheck={false}
        value={line}
        onChange={({ target }) => setLine(target.value)}
        autoFocus
      />
      <button type="submit" className="do" disabled={line.trim() === ""}>
        {translate("Run")}
      </button>
      <button type="button" onClick={back}>
        {translate("Back")}
      </button>
      {fault !== "" && <p className="fault">{fault}</p>}
    </form>
  );
}
