/*
 * Text of models, tools and hosts is untrusted. Control sequences could move, erase, retitle or paste in a terminal, and
 * invisible or direction-changing characters could deceive a reader: both are removed here.
 */

/** Sequences with a terminator (OSC, DCS, SOS, PM, APC), CSI sequences, and the short escapes. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;

/**
 * What is left of C0, DEL and C1 besides the line feed and the tab, and the characters that turn the direction of text,
 * or that hide in it: blanks without width, and the tags that spell invisible words.
 */
const CONTROLS =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Text in which nothing has to be removed; most text is, and this test is cheaper than the removal. */
const PLAIN = /^[\n\t -~]*$/;

/** Text without control sequences, and without control characters other than line feed and tab. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  // Well-formed first: two halves of a character could otherwise meet where what was between them is removed.
  return text.toWellFormed().replaceAll("\r\n", "\n").replaceAll(SEQUENCES, "").replaceAll(CONTROLS, "");
}

/** A value as one line of JSON with control characters escaped; a parser reads the same value. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replaceAll(CONTROLS, unitsOf)}\n`;
}

/** A character as JSON spells it, unit by unit. */
function unitsOf(point: string): string {
  const units = Array.from({ length: point.length }, (_, at) => point.charCodeAt(at).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}

/** Printable text on one line, at most `chars` long. */
export function oneLine(text: string, chars: number): string {
  // Cut first, so that a long text is not processed in full.
  const line = printable(text.slice(0, chars * 4))
    .replaceAll(/\s+/g, " ")
    .trim();
  if (line.length <= chars && text.length <= chars * 4) return line;
  const points = Array.from(line);
  return points.length > chars || text.length > chars * 4
    ? `${points.slice(0, Math.max(0, chars - 1)).join("")}…`
    : line;
}

const SAFE_WORD = /^[\w@%+=:,./-]+$/;
/** Characters that are invisible or look like an ordinary blank. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;

/**
 * An argument in shell quoting, with invisible characters escaped, so that what a person approves is what they read.
 */
export function quoteWord(word: string): string {
  if (SAFE_WORD.test(word)) return word;
  if (!INVISIBLE.test(word)) return `'${word.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = word.replaceAll(/['\\]/g, String.raw`\$&`);
  return `$'${escapeInvisible(escaped)}'`;
}

/** Text with invisible characters escaped. */
export function escapeInvisible(text: string): string {
  return Array.from(text, (point) => (INVISIBLE.test(point) ? escapeOf(point) : point)).join("");
}

const NAMED: { readonly [point: string]: string } = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u001b": "\\e" };

function escapeOf(point: string): string {
  const code = point.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, "0")}`;
  return (
    NAMED[point] ??
    (code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`)
  );
}

/** A whole command line, each word quoted. */
export function commandLine(argv: readonly string[]): string {
  return argv.map((word) => quoteWord(word)).join(" ");
}

/** Whether JSON has no invisible or control characters, neither as they are nor escaped. */
export function isPlainJson(json: string): boolean {
  // JSON escapes control characters and lone surrogates as \uXXXX; a literal backslash comes in pairs.
  const isSpelled = /\\[ubfr]/.test(json.replaceAll("\\\\", ""));
  return !isSpelled && printable(json) === json;
}
