import type { ReactNode } from "react";
import type { ToolRecord } from "@vidro/client";
import { translate } from "../words/translate.ts";
import { Line } from "./text.tsx";

/** A switch for each tool that the next message may use. */
export function ToolSwitches(props: {
  readonly title: string;
  readonly tools: readonly ToolRecord[];
  readonly off: ReadonlySet<string>;
  readonly toggle: (name: string) => void;
}): ReactNode {
  const { title, tools, off, toggle } = props;
  return (
    <fieldset className="switches">
      <legend>
        {title}{" "}
        <span className="quiet">{translate("{n} of {all} on", { n: tools.length - off.size, all: tools.length })}</span>
      </legend>
      {tools.map(({ name, description }) => (
        <label key={name} title={description.slice(0, 300)}>
          <input type="checkbox" role="switch" checked={!off.has(name)} onChange={() => toggle(name)} />
          <Line text={name} chars={60} />
        </label>
      ))}
    </fieldset>
  );
}
