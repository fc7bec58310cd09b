import { randomBytes } from "node:crypto";
import { printable } from "@vidro/core/text";
import { isAsciiTerminal } from "./terminal-kind.ts";

/*
 * The only source of control sequences for the terminal. Text of models, hosts, brains and files is mixed with our
 * colours long before it is written. So each of our sequences is kept as a mark with a nonce of this process, and
 * becomes a sequence when the text is written, after all other control characters were removed.
 */

const NONCE = randomBytes(8).toString("hex");
/** Noncharacters, which Unicode reserves for use inside a program. */
const [OPEN, CLOSE] = ["\ufdd0", "\ufdd1"];
const MARKS = new RegExp(`${OPEN}${NONCE}([?\\d;]*[A-Za-z])${CLOSE}`, "g");
const CSI = "\u001b[";

/** Signs of our own sentences as a terminal without UTF-8 shows them; letters of others are left as they are. */
const TYPED_SIGNS: { readonly [sign: string]: string } = {
  "·": "-",
  "…": "...",
  "›": ">",
  "•": "*",
  "─": "-",
  "│": "|",
  "→": "->",
  "“": '"',
  "”": '"',
  "’": "'",
  "–": "-",
  "—": "-",
};
const DRAWN_SIGNS = new RegExp(`[${Object.keys(TYPED_SIGNS).join("")}]`, "g");
/** Stands behind a sign of others that must be shown to the letter, on any terminal. */
const KEPT = `${OPEN}${NONCE}=${CLOSE}`;
const OWN_SIGNS = new RegExp(`([${Object.keys(TYPED_SIGNS).join("")}])(${KEPT})?`, "g");

/** A control sequence, as `2J`, as a mark to put into text. */
export function markControl(sequence: string): string {
  return `${OPEN}${NONCE}${sequence}${CLOSE}`;
}

/**
 * Words of others that are shown to the letter: of a plan, which a person approves, and of JSON. A terminal without
 * UTF-8 gets other signs for ours, and a quote of typographers that became one of the shell would be another command.
 */
export function keepSigns(text: string): string {
  return text.replaceAll(DRAWN_SIGNS, (sign) => `${sign}${KEPT}`);
}

/** Text for the terminal: printable, with our marks turned into control sequences. */
export function toTerminal(text: string): string {
  const shown = printable(text).replaceAll(MARKS, `${CSI}$1`);
  if (!isAsciiTerminal()) return shown.replaceAll(KEPT, "");
  return shown.replaceAll(OWN_SIGNS, (_, sign: string, kept?: string) =>
    kept === undefined ? (TYPED_SIGNS[sign] ?? sign) : sign,
  );
}

/** The text that a terminal shows, without our marks. */
export function withoutControls(text: string): string {
  return text.replaceAll(MARKS, "").replaceAll(KEPT, "");
}

/** Turns the control sequences of a trusted text, such as a colour, into marks. */
export function markControls(sequences: string): string {
  return sequences
    .split(CSI)
    .map((sequence) => (sequence === "" ? "" : markControl(sequence)))
    .join("");
}
