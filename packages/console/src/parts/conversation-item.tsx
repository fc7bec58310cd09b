import { memo } from "react";
import type { ReactNode } from "react";
import type { Json } from "@vidro/core";
import type { Item, PlanItem } from "../run/conversation.ts";
import { translate } from "../words/translate.ts";
import { ActionCard } from "./action-card.tsx";
import { FaultNote } from "./fault-note.tsx";
import { HealingNote } from "./healing-note.tsx";
import { OwnMessage } from "./own-message.tsx";
import type { EditTarget } from "./own-message.tsx";
import { QuestionCard } from "./question-card.tsx";
import { RichText } from "./rich-text.tsx";
import { visible } from "./text.tsx";

/** One item of the conversation of a run. */
export const ConversationItem = memo(function ConversationItem(props: {
  readonly run: string;
  readonly agent: string;
  readonly item: Item;
  /** Own messages can be sent again with other words. */
  readonly editTarget: EditTarget | undefined;
}): ReactNode {
  const { run, agent, item, editTarget } = props;
  switch (item.kind) {
    case "task":
      return <OwnMessage text={item.text} files={item.files} editTarget={editTarget} />;
    case "said":
      return <SpokenText className="said" who={agent} text={item.text} isRich />;
    case "thought":
      return <Thought text={item.text} />;
    case "note":
      return <SpokenText className="said note" who={translate("{agent} notes", { agent })} text={item.text} />;
    case "remark":
      return <OwnMessage text={item.text} who={item.by} editTarget={editTarget} remarkSeq={item.seq} />;
    case "plan":
      return item.steps.length === 0 ? null : <PlanList plan={item} />;
    case "healing":
      return <HealingNote item={item} />;
    case "result":
      return (
        <SpokenText
          className={item.isUnmet ? "said result unmet" : "said result"}
          who={agent}
          text={textOf(item.result)}
          isRich={typeof item.result === "string"}
        />
      );
    case "failure":
      return (
        <EndCard mark="✗" title={translate("The run failed")}>
          <FaultNote fault={item.fault} hasNext />
        </EndCard>
      );
    case "stop":
      return (
        <EndCard mark="■" title={translate("Stopped")}>
          <p className="body">
            <bdi>{visible(item.text)}</bdi>
          </p>
        </EndCard>
      );
    case "action":
      // An action that was not begun is in the question about it.
      return item.startedAt === undefined && item.fault === undefined ? null : <ActionCard run={run} item={item} />;
    case "question":
      return <QuestionCard run={run} item={item} />;
  }
});

/** The end of a run that has no answer. */
function EndCard(props: { readonly mark: string; readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className="card end">
      <header>
        <span className="mark bad" aria-hidden="true">
          {props.mark}
        </span>
        <span className="grow">{props.title}</span>
      </header>
      {props.children}
    </section>
  );
}

/** What the model thought, folded to its first line. */
export function Thought({ text, isOpen = false }: { readonly text: string; readonly isOpen?: boolean }): ReactNode {
  return (
    <details className="said thought" open={isOpen}>
      <summary className="who">
        {translate("thinking")} · <bdi>{visible(text.split("\n", 1)[0]?.slice(0, 120) ?? "")}</bdi>
      </summary>
      <p className="prose">
        <bdi>{visible(text)}</bdi>
      </p>
    </details>
  );
}

/** What an agent says; with `isRich` with the signs of Markdown that models write. */
export function SpokenText(props: {
  readonly className: string;
  readonly who?: string;
  readonly text: string;
  readonly isRich?: boolean;
}): ReactNode {
  const { className, who, text, isRich = false } = props;
  return (
    <div className={className}>
      {who !== undefined && <div className="who">{who}</div>}
      {isRich ? (
        <RichText text={text} />
      ) : (
        <p className="prose">
          <bdi>{visible(text)}</bdi>
        </p>
      )}
    </div>
  );
}

/** How a step of a plan stands; by the names of their classes. */
const STEP_WORDS = { done: "done", failed: "failed", now: "now", later: "later" } as const;

function PlanList({ plan }: { readonly plan: PlanItem }): ReactNode {
  const now = Math.min(plan.fates.length, plan.steps.length - 1);
  const stateOf = (index: number): keyof typeof STEP_WORDS =>
    !plan.isOver && index === now && plan.fates[index] !== "failed" ? "now" : (plan.fates[index] ?? "later");
  return (
    <ol className="plan" aria-label={translate("Plan")}>
      {plan.steps.map((step, index) => (
        <li key={index} className={stateOf(index)}>
          <bdi>{visible(step)}</bdi> <span className="hidden">{translate(STEP_WORDS[stateOf(index)])}</span>
        </li>
      ))}
    </ol>
  );
}

/** The result of a run as text. */
function textOf(result: Json): string {
  return typeof result === "string" ? result : JSON.stringify(result, null, 2);
}
