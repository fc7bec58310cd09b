import { useState } from "react";
import type { ReactNode } from "react";
import { isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import { commandLine, reasonWords } from "@vidro/core/text";
import type { ListedRule } from "../brain/policy.ts";
import { countOf, languageNow, translate } from "../words/translate.ts";
import { Block, Line } from "./text.tsx";
import { decisionWords } from "./words.ts";

/** The rules of a policy in their order, with a filter. */
export function RuleList({ rules }: { readonly rules: readonly ListedRule[] }): ReactNode {
  const [words, setWords] = useState("");
  const filter = words.trim().toLowerCase();
  const shown = rules.filter((rule) => filter === "" || JSON.stringify(rule.rule).toLowerCase().includes(filter));
  return (
    <>
      <h2 className="label">{translate("Rules")}</h2>
      <div className="filters">
        <label className="filter">
          <span>{translate("Filter")}</span>
          <input type="search" data-filter="" value={words} onChange={({ target }) => setWords(target.value)} />
        </label>
        <span className="filter">{countOf(shown.length, "rule")}</span>
      </div>
      {shown.length === 0 && <p className="empty">{translate("No rule has these words.")}</p>}
      <ol className="rules">
        {shown.map((rule) => (
          <RuleRow key={rule.id} rule={rule} />
        ))}
      </ol>
    </>
  );
}

function RuleRow({ rule: listed }: { readonly rule: ListedRule }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { id, decision, kind, isAdded, reason, rule } = listed;
  const [word, tone] = decisionWords(decision);
  const examples = isObject(rule["examples"]) ? rule["examples"] : {};
  return (
    <li className="card">
      <button type="button" className="item rule-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className={`state ${tone}`}>{word}</span>
        <b className="task">{id}</b>
        <span className="quiet">
          {kind} · {listed.class}
          {isAdded && ` · ${translate("added")}`}
        </span>
      </button>
      {isOpen && (
        <div className="body">
          {reason !== undefined && (
            <p>
              <Line text={reasonWords(reason, languageNow())} />
            </p>
          )}
          <ExampleList title={translate("Matches")} examples={examples["match"]} />
          <ExampleList title={translate("Does not match")} examples={examples["not_match"]} />
          <Block text={JSON.stringify(withoutExamples(rule), null, 2)} lines={30} />
        </div>
      )}
    </li>
  );
}

function withoutExamples(rule: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(rule).filter(([name]) => name !== "examples"));
}

const SHOWN = 12;

function ExampleList({ title, examples }: { readonly title: string; readonly examples: Json | undefined }): ReactNode {
  const all = Array.isArray(examples) ? examples : [];
  if (all.length === 0) return null;
  return (
    <>
      <p className="quiet small">{title}</p>
      <ul className="examples">
        {all.slice(0, SHOWN).map((example, index) => (
          <li key={index}>
            <code>
              <Line text={exampleWords(example)} />
            </code>
          </li>
        ))}
      </ul>
      {all.length > SHOWN && <p className="quiet small">{translate("and {n} more", { n: all.length - SHOWN })}</p>}
    </>
  );
}

function exampleWords(example: Json): string {
  if (typeof example === "string") return example;
  if (Array.isArray(example)) return commandLine(example.map(String));
  if (isObject(example) && typeof example["command"] === "string") return example["command"];
  return JSON.stringify(example);
}
