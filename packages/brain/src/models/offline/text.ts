/** A quoted text, a path or a file pattern in a task, exactly as it was written. */
export interface Operand {
  readonly text: string;
  readonly quoted: boolean;
}

/** A task made ready for rules: plain words, with each operand replaced by `§` and its index. */
interface TaskText {
  /** Lower case, no accents, no punctuation but `,;.?!` between clauses. */
  readonly plain: string;
  readonly words: readonly string[];
  /** The person's own words without the operands. */
  readonly prose: string;
  /** Indexed by the number behind `§`. */
  readonly operands: readonly Operand[];
}

const CLOSING = new Map([
  ['"', '"'],
  ["`", "`"],
  ["'", "'"],
  ["“", "”"],
  ["‘", "’"],
  ["«", "»"],
]);

const BARE_FILES = /^(readme|license|licence|makefile|dockerfile|changelog|notice|authors|jenkinsfile)$/i;
const FILE_NAME = /^[\w@.+-]*\.[a-z][a-z0-9]{0,9}$/i;
const PATH = /^(~|\.{1,2})?\/[^\s]*$|^~$|^\.{1,2}$|^[\w@.+-]+(\/[\w@.+*-]+)*\/$|^[\w@.+-]+(\/[\w@.+*-]+)+$/;
const GLOB = /^[\w./@+-]*\*[\w./@+*?-]*$/;

/** Whether a word names a file or folder, or a pattern of them, by its looks alone. */
function looksLikePath(word: string): boolean {
  return BARE_FILES.test(word) || FILE_NAME.test(word) || PATH.test(word) || GLOB.test(word);
}

/** Whether a path ends in a file name rather than in a folder. */
export function looksLikeFile(path: string): boolean {
  const last = path.split("/").at(-1) ?? "";
  return BARE_FILES.test(last) || (FILE_NAME.test(last) && !/^\.+$/.test(last));
}

/** Whether a name ends as files usually do, so that it can hardly be anything else. */
export function hasCommonExtension(name: string): boolean {
  return /\.(md|txt|json|ya?ml|toml|[cm]?[jt]sx?|py|rs|go|java|c|h|cpp|sh|log|csv|html|css|sql|pdf|png|jpe?g|xml|ini|conf|lock)$/i.test(
    name,
  );
}

/** Whether a path is a pattern of file names. */
export function looksLikeGlob(path: string): boolean {
  return /[*?]/.test(path);
}

/** Lower case without accents. */
export function plainWords(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Splits a task into plain words and operands. */
export function splitTask(task: string): TaskText {
  const operands: Operand[] = [];
  const mark = (operand: Operand): string => ` §${operands.push(operand) - 1} `;
  const unquoted = liftQuotes(task.replaceAll("§", " "), mark);
  const lifted = unquoted
    .split(/(\s+)/)
    .map((word) => liftPath(word, mark))
    .join("");
  const plain = plainWords(lifted)
    .replace(/(\w)['’]s\b/g, "$1 is")
    .replace(/['’]/g, "")
    .replace(/[^a-z0-9§_,;.?!\s-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return { plain, words: wordsOf(plain), prose: lifted.replace(/§\d+/g, " "), operands };
}

/** The words of a plain text. */
export function wordsOf(plain: string): readonly string[] {
  return plain.split(/[^a-z0-9§_-]+/).filter((word) => word !== "" && word !== "-");
}

function liftQuotes(text: string, mark: (operand: Operand) => string): string {
  let result = "";
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    const end = opensQuote(text, at) ? closingAt(text, at + 1, CLOSING.get(char) ?? char) : -1;
    if (end < 0) {
      result += char;
      at += 1;
    } else {
      const inner = text.slice(at + 1, end).replaceAll(`\\${text.charAt(end)}`, text.charAt(end));
      result += inner.trim() === "" ? " " : mark({ text: inner, quoted: true });
      at = end + 1;
    }
  }
  return result;
}

function opensQuote(text: string, at: number): boolean {
  return CLOSING.has(text.charAt(at)) && (at === 0 || /[\s(:,;=¿¡]/.test(text.charAt(at - 1)));
}

// An apostrophe inside a word ends nothing, so that 'don't' stays one text; the last resort is the first candidate.
function closingAt(text: string, from: number, close: string): number {
  for (let at = text.indexOf(close, from); at >= 0; at = text.indexOf(close, at + 1)) {
    const escaped = text.charAt(at - 1) === "\\";
    const next = text.charAt(at + 1);
    if (!escaped && (next === "" || /[\s,;:.?!)]/.test(next))) return at;
  }
  return -1;
}

function liftPath(word: string, mark: (operand: Operand) => string): string {
  const [, before = "", middle = "", after = ""] = /^([¿¡(]*)(.*?)([?!,;:)]*|\.)$/s.exec(word) ?? [];
  if (middle === "" || middle.startsWith("§")) return word;
  const isPath = looksLikePath(middle) && !/^\d+([./]\d+)*$/.test(middle) && !isSpokenSlash(middle);
  return isPath ? `${before}${mark({ text: middle, quoted: false })}${after}` : word;
}

// "and/or", "cpu/memory", "tcp/ip", "e.g.", "24/7" are words, not paths.
function isSpokenSlash(word: string): boolean {
  return /^(and\/or|e\/ou|y\/o|tcp\/ip|(cpu|ram|mem\w*|disk|disco)\/\w+|(e\.g|i\.e|etc|p\.ej)\.?)$/i.test(word);
}
