import { randomBytes } from "node:crypto";
import { printable } from "@vidro/core/text";

/*
 * What a terminal obeys comes from here and from nowhere else. Text of models, hosts, brains and files is mixed with
 * colours of our own long before it is written, so a sequence of ours is held as a mark that only this process knows
 * and becomes a sequence at the last moment, when everything else that a terminal would obey is gone.
 */

const NONCE = randomBytes(8).toString("hex");
/** Characters that Unicode keeps for such use inside of a program. */
const [OPEN, CLOSE] = ["\ufdd0", "\ufdd1"];
const MARKS = new RegExp(`${OPEN}${NONCE}([?\\d;]*[A-Za-z])${CLOSE}`, "g");
const CSI = "\u001b[";

/** A control sequence of our own, as in `2J`, to be put into text that is shown. */
export function markControl(sequence: string): string {
  return `${OPEN}${NONCE}${sequence}${CLOSE}`;
}

/** Text as a terminal gets it: printable, but for the control sequences that are our own. */
export function toTerminal(text: string): string {
  return printable(text).replaceAll(MARKS, `${CSI}$1`);
}

/** The control sequences of a text that is all our own, such as a colour, as marks. */
export function markControls(sequences: string): string {
  return sequences
    .split(CSI)
    .map((sequence) => (sequence === "" ? "" : markControl(sequence)))
    .join("");
}
