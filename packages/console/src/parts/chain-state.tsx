import { useCallback, useEffect, useState } from "react";
import type { ReactNode } from "react";
import { faultWords } from "../brain/connection.ts";
import { verifyRun } from "../brain/evidence.ts";
import type { Verification } from "../brain/evidence.ts";
import { translate } from "../words/translate.ts";
import { visible } from "./text.tsx";
import { clockWords } from "./words.ts";

/** Whether the journal is as it was written, as the brain finds it now. */
export function ChainState({ run }: { readonly run: string }): ReactNode {
  const [found, setFound] = useState<Verification | undefined>();
  const [fault, setFault] = useState("");
  const check = useCallback(() => {
    setFault("");
    setFound(undefined);
    verifyRun(run).then(setFound, (thrown: unknown) => setFault(faultWords(thrown)));
  }, [run]);
  useEffect(check, [check]);
  const isRead = found !== undefined || fault !== "";
  return (
    <div className="chain small">
      <span role="status" title={sealTitle(found)}>
        {!isRead && <span className="quiet">{translate("Checking the hash chain…")}</span>}
        {found !== undefined && <ChainWords found={found} />}
        {fault !== "" && <span className="fault">{fault}</span>}
      </span>
      <button type="button" className="small" disabled={!isRead} onClick={check}>
        {translate("Verify again")}
      </button>
    </div>
  );
}

function ChainWords({ found }: { readonly found: Verification }): ReactNode {
  const { ok, entries, broken_at: brokenAt, reason, findings, sealed_up_to: sealed } = found;
  if (ok)
    return (
      <>
        <span className="state ok">{translate("chain verified")}</span> {translate("{n} entries", { n: entries })}
        {sealed !== undefined && ` · ${sealWords(sealed, entries)}`}
      </>
    );
  const broken = brokenAt === undefined ? [] : [`${translate("entry {n}", { n: brokenAt })}: ${reason ?? ""}`];
  return (
    <>
      <span className="state bad">{translate("not as it was written")}</span>{" "}
      <bdi>{visible([...broken, ...findings].join(" · "))}</bdi>
    </>
  );
}

function sealWords(sealed: number, entries: number): string {
  if (sealed >= entries) return translate("all sealed");
  return sealed === 0 ? translate("not sealed yet") : translate("sealed up to entry {n}", { n: sealed });
}

function sealTitle(found: Verification | undefined): string | undefined {
  return typeof found?.sealed_at === "number" ? clockWords(found.sealed_at) : undefined;
}
