import { qrCode } from "@vidro/core/codec";

/** Light modules around a code, which its readers need. */
const QUIET = 2;

/**
 * The lines of a QR code with a text, two rows of modules on each; undefined for a text that is too long. What is light
 * is drawn, as on a dark terminal; readers take a code with its colours turned round, too.
 */
export function qrLines(text: string): readonly string[] | undefined {
  const rows = qrCode(text);
  if (rows === undefined) return undefined;
  const side = rows.length + 2 * QUIET;
  const isLight = (row: number, column: number): boolean => row < side && rows[row - QUIET]?.[column - QUIET] !== true;
  return Array.from({ length: Math.ceil(side / 2) }, (_, line) =>
    Array.from({ length: side }, (__, column) => {
      const [above, below] = [isLight(2 * line, column), isLight(2 * line + 1, column)];
      return above ? (below ? "█" : "▀") : below ? "▄" : " ";
    }).join(""),
  );
}
