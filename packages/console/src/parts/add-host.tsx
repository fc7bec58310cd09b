import { useState } from "react";
import type { ReactNode } from "react";
import { textIn } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import { faultWords, request } from "../brain/connection.ts";
import { localeNow, translate } from "../words/translate.ts";
import { Copy } from "./copy.tsx";

interface Invitation {
  readonly command: string;
  readonly expiresAt: string;
  readonly onlyHere: boolean;
  readonly needsVidro: boolean;
  /** Hands that there were before. */
  readonly before: ReadonlySet<string>;
}

/** The way a host joins: a name and tags, one command to paste there, and the wait for its first heartbeat. */
export function AddHost({ hands }: { readonly hands: readonly HandRecord[] }): ReactNode {
  const [invitation, setInvitation] = useState<Invitation | undefined>();
  return (
    <section className="card wizard" aria-label={translate("Add a host")}>
      {invitation === undefined ? (
        <Invite hands={hands} made={setInvitation} />
      ) : (
        <Paste invitation={invitation} hands={hands} again={() => setInvitation(undefined)} />
      )}
    </section>
  );
}

function Invite(props: {
  readonly hands: readonly HandRecord[];
  readonly made: (made: Invitation) => void;
}): ReactNode {
  const [name, setName] = useState("");
  const [tags, setTags] = useState("");
  const [isInstalled, setInstalled] = useState(false);
  const [status, setStatus] = useState<{ readonly isBusy: boolean; readonly fault: string }>({
    isBusy: false,
    fault: "",
  });
  const invite = async (): Promise<void> => {
    setStatus({ isBusy: true, fault: "" });
    const words = tags.split(/[\s,]+/).filter((tag) => tag !== "");
    try {
      const answer = await request("POST", "/v1/hands/invitations", {
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(words.length === 0 ? {} : { tags: words }),
        ...(isInstalled ? { installed: true } : {}),
      });
      props.made({
        command: textIn(answer, "command") ?? "",
        expiresAt: textIn(answer, "expires_at") ?? "",
        onlyHere: answer["only_here"] === true,
        needsVidro: answer["needs_vidro"] === true,
        before: new Set(props.hands.map(({ id }) => id)),
      });
    } catch (thrown) {
      setStatus({ isBusy: false, fault: faultWords(thrown) });
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void invite();
      }}
    >
      <label>
        <span>{translate("Name")}</span>
        <input value={name} onChange={({ target }) => setName(target.value)} placeholder="web-1" />
      </label>
      <label>
        <span>{translate("Tags")}</span>
        <input value={tags} onChange={({ target }) => setTags(target.value)} placeholder="web, eu" />
      </label>
      <label className="check">
        <input type="checkbox" checked={isInstalled} onChange={({ target }) => setInstalled(target.checked)} />
        <span>{translate("Vidro is installed there already")}</span>
      </label>
      <button type="submit" className="do" disabled={status.isBusy}>
        {status.isBusy ? translate("Making the command…") : translate("Make the command")}
      </button>
      <p role="alert" className="fault">
        {status.fault}
      </p>
    </form>
  );
}

function Paste(props: {
  readonly invitation: Invitation;
  readonly hands: readonly HandRecord[];
  readonly again: () => void;
}): ReactNode {
  const { invitation, hands, again } = props;
  const joined = hands.find(({ id, state }) => !invitation.before.has(id) && state === "ok");
  return (
    <>
      <p>
        {translate("Paste this line on the host. It counts once, until {time}.", {
          time: new Date(invitation.expiresAt).toLocaleTimeString(localeNow()),
        })}
        {invitation.needsVidro && ` ${translate("Vidro has to be installed there.")}`}
      </p>
      {invitation.onlyHere && (
        <p className="fault">
          {translate(
            "Only this machine can reach the brain. For other hosts start it with vidro up --southbound-host and its name.",
          )}
        </p>
      )}
      <pre className="command" tabIndex={0}>
        {invitation.command}
      </pre>
      <div className="row">
        <Copy text={invitation.command} label={translate("Copy")} />
        <button type="button" className="small" onClick={again}>
          {translate("Another host")}
        </button>
      </div>
      <p role="status" className={joined === undefined ? "quiet" : "state ok"}>
        {joined === undefined
          ? translate("Waiting for the first heartbeat…")
          : translate("{name} connected", { name: joined.name })}
      </p>
    </>
  );
}
