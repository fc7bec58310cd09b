import { useMemo } from "react";
import type { ReactNode } from "react";
import { qrCode } from "@vidro/core/codec";

/** Light modules around a code, which its readers need. */
const QUIET = 4;

/** A text as a QR code for the camera of a phone; nothing for a text that is too long. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const rows = useMemo(() => qrCode(text), [text]);
  if (rows === undefined) return null;
  const side = rows.length + 2 * QUIET;
  const path = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")))
    .join("");
  return (
    <svg className="qr" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} fill="currentColor" />
    </svg>
  );
}
