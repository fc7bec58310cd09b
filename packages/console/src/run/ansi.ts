/*
 * Programs colour their output by escape sequences. Those that set a colour or a weight become tones of the page; all
 * others are left in the text, where they are spelled out: none of them can move, hide or overwrite anything.
 */

/** A piece of an output in one tone; the plain one is "". */
export interface ToneRun {
  readonly tone: string;
  readonly text: string;
}

/** The tone of each colour of a terminal, from black to white. */
const TONES = ["quiet", "bad", "ok", "asking", "running", "model", "running", ""] as const;

// oxlint-disable-next-line no-control-regex -- escape sequences begin with a control character
const STYLE = /\u001B\[([\d;]{0,32})m/;

/** An output in pieces of one tone each. */
export function tonesOf(output: string): readonly ToneRun[] {
  const parts = output.split(STYLE);
  let [tone, isBold] = ["", false];
  return parts.flatMap((part, index) => {
    if (index % 2 === 1) {
      [tone, isBold] = styleAfter(part, tone, isBold);
      return [];
    }
    return part === "" ? [] : [{ tone: [tone, isBold ? "bold" : ""].join(" ").trim(), text: part }];
  });
}

/** Colour and weight after a sequence; a background or another style changes neither. */
function styleAfter(codes: string, before: string, wasBold: boolean): [tone: string, isBold: boolean] {
  let [tone, isBold] = [before, wasBold];
  const numbers = codes.split(";").map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 0) [tone, isBold] = ["", false];
    else if (code === 1) isBold = true;
    else if (code === 22) isBold = false;
    else if (code === 39) tone = "";
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) tone = TONES[code % 10] ?? "";
    // A colour by its number or its parts has no tone of the page; the numbers behind it are its own.
    else if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4;
  }
  return [tone, isBold];
}
