import { useState } from "react";
import type { ReactNode } from "react";
import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { planWords } from "@vidro/core/text";
import { faultWords } from "../brain/connection.ts";
import { checkPolicyDraft, savePolicy, tryOnHistory } from "../brain/policy.ts";
import type { PastReport, PolicyRecord } from "../brain/policy.ts";
import { countOf, translate } from "../words/translate.ts";
import { PolicyTester } from "./policy-tester.tsx";
import { Link } from "./route.tsx";
import { Line } from "./text.tsx";
import { decisionWords } from "./words.ts";

/** What was found about a draft. */
interface DraftReport {
  readonly fault?: string;
  readonly done?: string;
  readonly history?: PastReport;
}

/** A draft of the policy: tried on an action and on past runs, and saved when all its examples hold. */
export function PolicyEditor({
  policy,
  saved,
}: {
  readonly policy: PolicyRecord;
  readonly saved: () => void;
}): ReactNode {
  const [text, setText] = useState(() => JSON.stringify(policy.source, null, 2));
  // The policy that the draft was made from: a change by others since is not overwritten.
  const [version, setVersion] = useState(policy.version);
  const [found, setFound] = useState<DraftReport>({});
  const [isBusy, setBusy] = useState(false);
  const work = (what: (draft: JsonObject) => Promise<DraftReport>) => async (): Promise<void> => {
    setBusy(true);
    setFound({});
    try {
      setFound(await what(draftIn(text)));
    } catch (thrown) {
      setFound({ fault: faultWords(thrown) });
    }
    setBusy(false);
  };
  const check = work(async (draft) => ({ done: checkedWords(await checkPolicyDraft(draft)) }));
  const tryPast = work(async (draft) => ({ history: await tryOnHistory(draft) }));
  const save = work(async (draft) => {
    const now = await savePolicy(draft, version);
    setVersion(now.version);
    saved();
    return { done: translate("Saved. It counts from now on.") };
  });
  return (
    <section className="card editor" aria-label={translate("Change the policy")}>
      <label>
        <span className="hidden">{translate("The policy as its file has it")}</span>
        <textarea rows={16} spellCheck={false} value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <div className="buttons">
        <button type="button" className="do" disabled={isBusy} onClick={() => void save()}>
          {translate("Try its examples and save")}
        </button>
        <button type="button" disabled={isBusy} onClick={() => void check()}>
          {translate("Try its examples")}
        </button>
        <button type="button" disabled={isBusy} onClick={() => void tryPast()}>
          {translate("Try it on past runs")}
        </button>
      </div>
      <Findings found={found} isBusy={isBusy} />
      <PolicyTester draft={() => draftIn(text)} />
    </section>
  );
}

function Findings({ found, isBusy }: { readonly found: DraftReport; readonly isBusy: boolean }): ReactNode {
  return (
    <div role="status">
      {isBusy && <p className="quiet">{translate("Trying…")}</p>}
      {found.fault !== undefined && (
        <p className="fault">
          <bdi>{found.fault}</bdi>
        </p>
      )}
      {found.done !== undefined && <p className="state ok">{found.done}</p>}
      {found.history !== undefined && <History history={found.history} />}
    </div>
  );
}

/** The draft that a person wrote; throws an Error that says what is wrong with it. */
function draftIn(text: string): JsonObject {
  const value = JSON.parse(text) as Json;
  if (isObject(value)) return value;
  throw new Error(translate("A policy is an object."));
}

function checkedWords({ rules, examples }: { readonly rules: number; readonly examples: number }): string {
  return translate("All holds: {rules}, {examples} tried.", {
    rules: countOf(rules, "rule"),
    examples: countOf(examples, "example"),
  });
}

function History({ history }: { readonly history: PastReport }): ReactNode {
  const { judged, elsewhere, homeless, count, changed } = history;
  return (
    <>
      <p>
        {translate("{actions} tried, {n} would be decided otherwise. Nothing was run.", {
          actions: countOf(judged, "past action"),
          n: count,
        })}
        {elsewhere > 0 && ` ${translate("{n} were on other hosts.", { n: elsewhere })}`}
        {homeless > 0 && ` ${translate("{n} were in folders that are gone.", { n: homeless })}`}
      </p>
      <ul className="past">
        {changed.map(({ run, seq, plan, was, now }) => (
          <li key={`${run}-${seq}`}>
            <span className={decisionWords(was.decision)[1]}>{decisionWords(was.decision)[0]}</span> →{" "}
            <b className={decisionWords(now.decision)[1]}>{decisionWords(now.decision)[0]}</b>{" "}
            <Link to={`/runs/${run}?view=journal#seq=${seq}`}>
              <Line text={planWords(plan)} chars={160} />
            </Link>{" "}
            <span className="quiet">
              {was.rule} → {now.rule}
            </span>
          </li>
        ))}
      </ul>
      {count > changed.length && <p className="quiet">{translate("and {n} more", { n: count - changed.length })}</p>}
    </>
  );
}
