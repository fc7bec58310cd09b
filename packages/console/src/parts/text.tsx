import { useState } from "react";
import type { ReactNode } from "react";
import { CONSOLE_LIMITS } from "@vidro/core";
import { escapeInvisible } from "@vidro/core/text";
import { tonesOf } from "../run/ansi.ts";
import { translate } from "../words/translate.ts";

/* Text of models, hosts and people is shown as text: React escapes it, and what a reader cannot see is spelled out. */

/** Text with its control characters spelled out, on as many lines as it has; very long lines are cut. */
export function visible(text: string): string {
  return linesOf(text, cut);
}

/** The same without a cut, for what a person decides about. */
export function wholeText(text: string): string {
  return linesOf(text, escapeInvisible);
}

/** Line feeds and tabs stay. */
function linesOf(text: string, show: (line: string) => string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split(/(\n|\t)/)
    .map((part) => (part === "\n" || part === "\t" ? part : show(part)))
    .join("");
}

function cut(line: string): string {
  if (line.length <= CONSOLE_LIMITS.lineChars) return escapeInvisible(line);
  return `${escapeInvisible(line.slice(0, CONSOLE_LIMITS.lineChars))} … ${translate("{n} more characters", { n: line.length - CONSOLE_LIMITS.lineChars })}`;
}

/** One line of untrusted text. */
export function Line({ text, chars = 300 }: { readonly text: string; readonly chars?: number }): ReactNode {
  const short = text.length > chars ? `${text.slice(0, chars)}…` : text;
  return <bdi>{escapeInvisible(short.replaceAll(/\s+/g, " "))}</bdi>;
}

/** The output of a program: its colours are those of the page, and all else that it could do is spelled out. */
export function OutputText({ text }: { readonly text: string }): ReactNode {
  return tonesOf(text).map(({ tone, text: piece }, index) =>
    tone === "" ? (
      visible(piece)
    ) : (
      <span key={index} className={tone}>
        {visible(piece)}
      </span>
    ),
  );
}

/** A block of untrusted text, of which the first lines are shown until a person unfolds it. */
export function Block(props: {
  readonly text: string;
  readonly lines?: number;
  /** It is the output of a program, which may have colours. */
  readonly isOutput?: boolean;
}): ReactNode {
  const { text, lines = 12, isOutput = false } = props;
  const [isOpen, setOpen] = useState(false);
  const bounded = text.slice(0, CONSOLE_LIMITS.blockChars);
  const all = bounded.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  const shown = isOpen ? all : all.slice(0, lines);
  const hidden = all.length - shown.length;
  const lost = text.length - bounded.length;
  return (
    <div className="block">
      <pre tabIndex={0}>
        <bdi>{isOutput ? <OutputText text={shown.join("\n")} /> : visible(shown.join("\n"))}</bdi>
      </pre>
      {hidden > 0 && (
        <button type="button" className="fold" onClick={() => setOpen(true)}>
          … {translate("{n} more lines", { n: hidden })}
        </button>
      )}
      {lost > 0 && (isOpen || hidden === 0) && (
        <p className="quiet small">… {translate("{n} more characters are in the journal", { n: lost })}</p>
      )}
    </div>
  );
}
