import { memo } from "react";
import type { ReactNode } from "react";
import type { FaultReport, Outcome, Output, Verdict } from "@vidro/core";
import { actionWords, byteWords, planWords, reasonWords, spanWords } from "@vidro/core/text";
import { useHandNames } from "../brain/hand-names.tsx";
import type { BackgroundProcess } from "../run/background-process.ts";
import type { ActionItem } from "../run/conversation.ts";
import { languageNow, translate } from "../words/translate.ts";
import { TranslatedText } from "../words/translated.tsx";
import { FaultNote } from "./fault-note.tsx";
import { Link } from "./route.tsx";
import { Block, Line } from "./text.tsx";
import { WholeOutput } from "./whole-output.tsx";
import { decisionWords } from "./words.ts";

/** An action: exactly what was done, where, and what came of it. */
export const ActionCard = memo(function ActionCard({
  run,
  item,
}: {
  readonly run: string;
  readonly item: ActionItem;
}): ReactNode {
  const [mark, tone] = markOf(item);
  const nameOf = useHandNames();
  const words = item.plan?.kind === "process" ? planWords(item.plan) : actionWords(item.action, WORDS_CHARS);
  return (
    <section
      className="card"
      id={`seq-${item.seq}`}
      aria-label={translate("Action: {words}", { words: words.slice(0, 80) })}
    >
      <header>
        <span className={`mark ${tone}`} aria-hidden="true">
          {mark}
        </span>
        <code className="grow">
          <Line text={words} chars={WORDS_CHARS} />
        </code>
        <span className="end">{endWords(item)}</span>
      </header>
      {item.outcome !== undefined && <OutcomeText outcome={item.outcome} />}
      {item.outcome?.kind === "process" && item.outcome.spool !== undefined && (
        <WholeOutput run={run} action={item.action.id} bytes={item.outcome.stdout.bytes + item.outcome.stderr.bytes} />
      )}
      {item.fault !== undefined && <FaultNote fault={faultOf(item.fault, item.verdict)} hasNext={false} />}
      <div className="facts">
        <span>
          <TranslatedText phrase="tool {tool}" values={{ tool: <b>{item.action.tool}</b> }} />
        </span>
        {item.hand !== undefined && (
          <span>
            <TranslatedText phrase="on {hand}" values={{ hand: <b>{nameOf(item.hand)}</b> }} />
          </span>
        )}
        {item.process !== undefined && (
          <span>
            <TranslatedText phrase="process {process}" values={{ process: <b>{item.process.name}</b> }} />
          </span>
        )}
        {item.verdict !== undefined && (
          <span title={reasonWords(item.verdict.reason, languageNow())}>
            {decisionWords(item.verdict.decision)[0]},{" "}
            <TranslatedText phrase="rule {rule}" values={{ rule: <b>{item.verdict.rule}</b> }} />
          </span>
        )}
        <Link to={`/runs/${run}#seq=${item.seq}`}>seq {item.seq}</Link>
      </div>
    </section>
  );
});

const WORDS_CHARS = 400;

/** A fault with the reason of a denial in the reader's language. */
function faultOf(fault: FaultReport, verdict: Verdict | undefined): FaultReport {
  const isDenied = fault.code === "POLICY_DENIED" && verdict !== undefined;
  return isDenied ? { ...fault, message: reasonWords(verdict.reason, languageNow()) } : fault;
}

function OutcomeText({ outcome }: { readonly outcome: Outcome }): ReactNode {
  if (outcome.kind === "value") return outcome.text === "" ? null : <Block text={outcome.text} />;
  return (
    <>
      <StreamText output={outcome.stdout} />
      <StreamText output={outcome.stderr} name="stderr" />
    </>
  );
}

function StreamText({ output, name }: { readonly output: Output; readonly name?: string }): ReactNode {
  if (output.bytes === 0) return null;
  return (
    <>
      {name !== undefined && <p className="stream">{name}</p>}
      <Block text={output.text} isOutput />
    </>
  );
}

function markOf({ outcome, fault, isUnknown, startedAt, process }: ActionItem): readonly [mark: string, tone: string] {
  if (isUnknown === true) return ["?", "asking"];
  if (fault !== undefined) return ["✗", "bad"];
  if (outcome === undefined) return startedAt === undefined ? ["○", "quiet"] : ["◐", "running"];
  if (process?.isRunning === true) return ["◐", "running"];
  if ((process?.exitCode ?? 0) !== 0) return ["✗", "bad"];
  return outcome.kind === "process" && outcome.exitCode !== 0 ? ["✗", "bad"] : ["✓", "ok"];
}

/** How a process in the background stands, as far as the journal tells. */
function processWords({ isRunning, isKept, isOver, exitCode, signal }: BackgroundProcess): string {
  if (isOver === true) return translate("ended with the run");
  if (isRunning) return isKept ? translate("goes on after the run") : translate("runs in the background");
  if (signal !== undefined) return translate("ended by {signal}", { signal });
  return exitCode === undefined ? translate("gone") : translate("exit {code}", { code: exitCode });
}

function endWords({ outcome, fault, isUnknown, startedAt, endedAt, process }: ActionItem): string {
  if (isUnknown === true) return translate("outcome unknown");
  if (fault !== undefined) return translate("not done");
  if (outcome === undefined) return startedAt === undefined ? translate("not begun") : translate("working…");
  const took = spanWords(outcome.kind === "process" ? outcome.durationMs : (endedAt ?? 0) - (startedAt ?? 0));
  if (process !== undefined) return `${processWords(process)} · ${took}`;
  if (outcome.kind === "value") return took;
  const exit =
    outcome.signal === null
      ? translate("exit {code}", { code: outcome.exitCode ?? "?" })
      : translate("ended by {signal}", { signal: outcome.signal });
  return [exit, byteWords(outcome.stdout.bytes + outcome.stderr.bytes), took].join(" · ");
}
