import type { ReactNode } from "react";
import type { ToolRecord } from "@vidro/client";
import { Line } from "./text.tsx";

/** A switch for each tool that the next message may use. */
export function ToolSwitches(props: {
  readonly tools: readonly ToolRecord[];
  readonly off: ReadonlySet<string>;
  readonly toggle: (name: string) => void;
}): ReactNode {
  const { tools, off, toggle } = props;
  return (
    <fieldset className="switches">
      <legend>
        Tools of this conversation{" "}
        <span className="quiet">
          {tools.length - off.size} of {tools.length} on
        </span>
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
