import { useState } from "react";
import type { ReactNode } from "react";
import { isLoopbackHost, textIn } from "@vidro/core";
import { faultWords, request } from "../brain/connection.ts";
import { translate } from "../words/translate.ts";
import { Copy } from "./copy.tsx";
import { Qr } from "./qr.tsx";

/** Makes a link with which a phone answers the open question of a run, once. */
export function PhoneLink({ run }: { readonly run: string }): ReactNode {
  const [link, setLink] = useState("");
  const [fault, setFault] = useState("");
  const create = (): void => {
    setFault("");
    request("POST", `/v1/runs/${run}/answer-links`, {}).then(
      (answer) => setLink(location.origin + (textIn(answer, "path") ?? "")),
      (thrown: unknown) => setFault(faultWords(thrown)),
    );
  };
  if (link === "")
    return (
      <div className="phone-link">
        <button type="button" className="small" onClick={create}>
          {translate("Answer on a phone…")}
        </button>
        {fault !== "" && <p className="fault">{fault}</p>}
      </div>
    );
  return (
    <div className="phone-link">
      <p className="small">
        {translate(
          "The holder of this link sees this plan and answers it once, within ten minutes, without signing in.",
        )}
        {isLoopbackHost(location.hostname) &&
          ` ${translate("Only this machine can open it: the brain listens for no other (vidro up --host with a certificate).")}`}
      </p>
      <Qr text={link} label={translate("The link as a code for a camera")} />
      <pre className="command" tabIndex={0}>
        {link}
      </pre>
      <Copy text={link} label={translate("Copy the link")} />
    </div>
  );
}
