import type { ReactNode } from "react";

const WIDTH = 290;
const HEIGHT = 42;

/** Values between 0 and 1 as a line. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly number[];
  readonly label: string;
}): ReactNode {
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)} ${(HEIGHT - 2 - value * (HEIGHT - 6)).toFixed(1)}`,
  );
  const line = points.length < 2 ? "" : `M${points.join("L")}`;
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {line !== "" && <path className="area" d={`${line}V${HEIGHT}H0Z`} />}
      <path className="line" d={line} />
    </svg>
  );
}
