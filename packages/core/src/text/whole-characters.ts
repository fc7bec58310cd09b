/*
 * A text is cut between characters, never inside one: half of a character is no text. JSON can spell it, but servers of
 * models and receivers of traces refuse the whole request for it, and a run that has it in its prompt could not go on.
 */

const HIGH = 0xd800;
const LOW = 0xdc00;

/** The beginning of a text, at most `chars` long, with its last character whole. */
export function headOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  return text.slice(0, isInside(text, chars) ? chars - 1 : chars);
}

/** The end of a text, at most `chars` long, with its first character whole. */
export function tailOf(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const from = text.length - chars;
  return text.slice(isInside(text, from) ? from + 1 : from);
}

/** Whether a place lies between the halves of one character. */
function isInside(text: string, at: number): boolean {
  return at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === HIGH && (text.charCodeAt(at) & 0xfc00) === LOW;
}
