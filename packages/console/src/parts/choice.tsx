import type { ReactNode } from "react";
import { visible } from "./text.tsx";

const NAME_CHARS = 40;

/** One of several values, or the first one, which stands for none; nothing when there is no other. */
export function Choice(props: {
  readonly label: string;
  readonly first: string;
  readonly others: readonly (readonly [value: string, name: string])[];
  readonly value: string;
  readonly choose: (value: string) => void;
}): ReactNode {
  const { label, first, others, value, choose } = props;
  if (others.length === 0) return null;
  return (
    <select aria-label={label} value={value} onChange={({ target }) => choose(target.value)}>
      <option value="">{first}</option>
      {others.map(([id, name]) => (
        <option key={id} value={id}>
          {visible(name.slice(0, NAME_CHARS))}
        </option>
      ))}
    </select>
  );
}
