import { useState } from "react";
import type { ReactNode } from "react";
import type { Action, Json, JsonObject } from "@vidro/core";
import { translate } from "../words/translate.ts";

/** The fields of an action that a person can write: texts, and lists of texts with one on each line. */
function fieldsOf({ input }: Action): readonly (readonly [name: string, text: string])[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const text = textOf(value);
    return text === undefined ? [] : [[name, text] as const];
  });
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((one) => typeof one === "string" && !one.includes("\n"));
  return isList ? value.join("\n") : undefined;
}

/** Whether a person can change an action here. */
export function isChangeable(action: Action | undefined): boolean {
  return action !== undefined && fieldsOf(action).length > 0;
}

/** What is to run instead: the fields of the action as a person writes them. Only changed fields are sent. */
export function ChangeForm(props: {
  readonly action: Action;
  readonly isSent: boolean;
  readonly send: (input: JsonObject) => void;
  readonly back: (() => void) | undefined;
}): ReactNode {
  const { action, isSent, send, back } = props;
  const fields = fieldsOf(action);
  const [texts, setTexts] = useState<{ readonly [name: string]: string }>(Object.fromEntries(fields));
  const changed = fields.filter(([name, text]) => texts[name] !== text).map(([name]) => name);
  const valueOf = (name: string): Json => {
    const text = texts[name] ?? "";
    if (!Array.isArray(action.input[name])) return text;
    return text === "" ? [] : text.replace(/\n$/, "").split("\n");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (changed.length > 0) send(Object.fromEntries(changed.map((name) => [name, valueOf(name)])));
      }}
    >
      {fields.map(([name, text]) => (
        <label key={name} className="because">
          <span>
            {name}
            {Array.isArray(action.input[name]) && <span className="quiet"> {translate("one on each line")}</span>}
          </span>
          <textarea
            rows={Math.min(12, Math.max(1, text.split("\n").length))}
            spellCheck={false}
            value={texts[name]}
            onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
          />
        </label>
      ))}
      <div className="buttons">
        <button type="submit" className="do" disabled={isSent || changed.length === 0}>
          {translate("Yes, with this change")}
        </button>
        {back !== undefined && (
          <button type="button" disabled={isSent} onClick={back}>
            {translate("Back")}
          </button>
        )}
      </div>
    </form>
  );
}
