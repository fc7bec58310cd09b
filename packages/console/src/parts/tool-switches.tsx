import type { ReactNode } from "react";
import type { ToolRecord } from "@vidro/client";
import { translate } from "../words/translate.ts";
import { Line } from "./text.tsx";

/** A switch for each tool that may be used, folded: most people leave all of them on. */
export function ToolSwitches(props: {
  readonly title: string;
  readonly tools: readonly ToolRecord[];
  readonly off: ReadonlySet<string>;
  readonly toggle: (name: string) => void;
}): ReactNode {
  const { title, tools, off, toggle } = props;
  return (
    <details className="switches" aria-label={title}>
      <summary>
        {title}{" "}
        <span className="quiet">{translate("{n} of {all} on", { n: tools.length - off.size, all: tools.length })}</span>
      </summary>
      <div>
        {tools.map(({ name, description }) => (
          <label key={name} title={description.slice(0, 300)}>
            <input type="checkbox" role="switch" checked={!off.has(name)} onChange={() => toggle(name)} />
            <Line text={name} chars={60} />
          </label>
        ))}
      </div>
    </details>
  );
}
