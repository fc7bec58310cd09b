import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import { usePolled } from "../brain/polled.ts";
import { readPolicyRecord } from "../brain/policy.ts";
import type { PolicyRecord } from "../brain/policy.ts";
import { PolicyEditor } from "../parts/policy-editor.tsx";
import { PolicyTester } from "../parts/policy-tester.tsx";
import { RuleList } from "../parts/rule-list.tsx";
import { useTitle } from "../parts/title.ts";
import { translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";

/** The policy of the brain's own machine: its rules, what it says of an action, and its change. */
export function PolicyPage({ isAdmin }: { readonly isAdmin: boolean }): ReactNode {
  useTitle(translate("Policy"));
  return (
    <>
      <h1>{translate("Policy")}</h1>
      {isAdmin ? <Rules /> : <p className="empty">{translate("Only an administrator sees the policy.")}</p>}
    </>
  );
}

function Rules(): ReactNode {
  const { value: policy, fault, refresh } = usePolled("policy", readPolicyRecord, CONSOLE_LIMITS.catalogMs);
  const [isEditing, setEditing] = useState(false);
  if (policy === undefined)
    return fault === undefined ? (
      <p className="quiet">{translate("Reading the rules…")}</p>
    ) : (
      <p className="fault">{fault}</p>
    );
  return (
    <>
      <Intro policy={policy} />
      <PolicyTester />
      {policy.isHost ? (
        <p className="empty">{translate("The host's own policy counts. Only root changes it, on the host.")}</p>
      ) : (
        <div className="row">
          <button type="button" className={isEditing ? "" : "do"} onClick={() => setEditing(!isEditing)}>
            {isEditing ? translate("Close") : translate("Change the policy")}
          </button>
          <span className="quiet">
            {translate("A draft is tried on the actions of past runs, and its examples are tried before it is saved.")}
          </span>
        </div>
      )}
      {isEditing && <PolicyEditor policy={policy} saved={refresh} />}
      <RuleList rules={policy.rules} />
    </>
  );
}

function Intro({ policy }: { readonly policy: PolicyRecord }): ReactNode {
  return (
    <>
      <p className="quiet">
        <TranslatedText
          phrase="What this machine does without a question. A denial counts first, then the rules that were added, the strictest first; what no rule matches is asked. Other hosts have policies of their own. File: {file}"
          values={{ file: <code>{policy.file}</code> }}
        />
      </p>
      {policy.warning !== undefined && (
        <p className="small quiet">
          <bdi>{policy.warning}</bdi>
        </p>
      )}
    </>
  );
}
