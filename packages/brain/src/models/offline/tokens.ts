/** What a token that is no plain word stands for. */
export type OperandKind = "quote" | "path" | "file" | "glob" | "number" | "host" | "variable" | "revision";

/** A word of a task: plain letters, or the mark of an operand such as `§file`. */
export interface Token {
  /** Lower case without accents; for an operand `§` and its kind. */
  readonly plain: string;
  /** As the person wrote it, without the punctuation around it. */
  readonly written: string;
  readonly kind?: OperandKind;
  /** Whether a comma, a full stop or the like follows it. */
  readonly endsClause: boolean;
}

const CLOSING = new Map([
  ['"', '"'],
  ["`", "`"],
  ["'", "'"],
  ["“", "”"],
  ["‘", "’"],
  ["«", "»"],
]);

const KNOWN_FOLDERS = /^(\.(git|ssh|npm|aws|kube|cache|config|venv)|node_modules|__pycache__)$/;
const BARE_FILES =
  /^(makefile|dockerfile|jenkinsfile|gemfile|procfile|\.gitignore|\.env|\.npmrc|readme|leiame|leia-me|leeme|licen[sc]e|licenca|licencia|changelog)$/i;
const FILE_NAME = /^[\w@.+-]*[\w@+-]\.[a-z][a-z0-9]{0,9}$|^\.[a-z]{3,}[\w.-]*$/i;
const PATH = /^(~|\.{1,2})?\/\S*$|^~$|^\.{1,2}$|^[\w@.+-]+(\/[\w@.+-]+)*\/?$/;
const GLOB = /^[\w./@+-]*\*[\w./@+*?-]*$|^\.[a-z0-9]{1,4}$/i;
const HOST =
  /^(https?:\/\/\S+|localhost(:\d+)?|(\d{1,3}\.){3}\d{1,3}(:\d+)?|([a-z0-9-]+\.)+(com|org|net|io|dev|app|br|pt|es|mx|ar|de|fr|uk|eu|local|lan|internal|gov|edu|info|cloud|ai|co|me|test|example)(:\d+)?)$/i;
const VARIABLE =
  /^(\$\{?[A-Za-z_]\w*\}?|[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|PATH|HOME|USER|SHELL|LANG|EDITOR|PWD|TERM|TZ|HOSTNAME|LOGNAME)$/;
const REVISION = /^(HEAD([~^]\d*)*|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})$/;
const SPOKEN_SLASH = /^(and\/or|e\/ou|y\/o|tcp\/ip|24\/7|(cpu|ram|mem\w*|disk|disco)\/\w+|(e\.g|i\.e|etc|p\.ej)\.?)$/i;

const NUMBER_WORDS = new Map(
  `two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 twelve:12 fifteen:15 twenty:20 fifty:50 hundred:100
   dois:2 duas:2 tres:3 quatro:4 cinco:5 seis:6 sete:7 oito:8 nove:9 dez:10 doze:12 quinze:15 vinte:20 cinquenta:50 cem:100
   dos:2 cuatro:4 siete:7 ocho:8 nueve:9 diez:10 doce:12 quince:15 veinte:20 cincuenta:50 cien:100`
    .split(/\s+/)
    .map((pair) => [pair.split(":")[0] ?? "", Number(pair.split(":")[1])] as const),
);

/** Lower case without accents. */
export function plainWords(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** Whether a path ends in a file name rather than in a folder. */
export function looksLikeFile(path: string): boolean {
  const last = path.split("/").at(-1) ?? "";
  return BARE_FILES.test(last) || (FILE_NAME.test(last) && !/^\.+$/.test(last));
}

/** The number that a token says, in figures or as a word; undefined when it says none. */
export function numberIn({ kind, written }: Token): number | undefined {
  if (kind !== "number") return undefined;
  return NUMBER_WORDS.get(plainWords(written)) ?? Number(written.replace(/[^\d]/g, ""));
}

/** Splits a task into words and operands: quoted texts, paths, numbers, hosts, variables, revisions. */
export function tokensOf(task: string): readonly Token[] {
  const quotes: string[] = [];
  const lifted = liftQuotes(
    task.replaceAll("§", " ").replace(/\s&\s/g, " and "),
    (text) => ` §${quotes.push(text) - 1} `,
  );
  const isShouting = lifted.replace(/[^a-z]/g, "").length === 0;
  const pieces = lifted.split(/\s+/).filter((piece) => piece !== "");
  const tokens = pieces
    .flatMap((piece, at) => tokensIn(DASH.test(pieces[at + 1] ?? "") ? `${piece},` : piece, quotes, isShouting))
    .map(withoutPortugueseDos);
  return tokens.some(isOtherFile) ? tokens.map(asReading) : tokens;
}

/** A dash between two clauses. */
const DASH = /^(-{1,3}|–|—|\.{3}|…)$/;

/** Words before a Spanish "dos". */
const BEFORE_TWO =
  /^(los|las|mis|sus|estos|estas|de|top|hace|en|con|cada|solo|dame|muestra|muestrame|ensename|lista|ultimos|ultimas|primeros|primeras|mas|hay|entre|y|o|a)$/;

/** "Dos" is a number in Spanish and "of the" in Portuguese, where a noun stands before it: "histórico dos commits". */
function withoutPortugueseDos(token: Token, at: number, tokens: readonly Token[]): Token {
  const { written, endsClause } = token;
  const before = tokens[at - 1];
  if (plainWords(written) !== "dos" || before === undefined || BEFORE_TWO.test(before.plain)) return token;
  return { plain: "dos", written, endsClause };
}

/** "Léeme" and "leia-me" are names of a file, and orders to read another one that is named. */
const READING = /^(leeme|leiame|leia-me)$/;

function isOtherFile({ kind, written }: Token): boolean {
  return (kind === "file" || kind === "path") && !READING.test(plainWords(written));
}

function asReading(token: Token): Token {
  const { written, endsClause } = token;
  const name = plainWords(written);
  return READING.test(name) ? { plain: name === "leeme" ? "lee" : "leia", written, endsClause } : token;
}

function tokensIn(piece: string, quotes: readonly string[], isShouting: boolean): readonly Token[] {
  const [, middle = "", after = ""] = /^[¿¡([{]*(.*?)([?!,;:.)\]}…]*)$/s.exec(piece) ?? [];
  const endsClause = /[?!,;:.)]/.test(after);
  const [, quoted] = /^§(\d+)$/.exec(middle) ?? [];
  if (quoted !== undefined) {
    return [{ plain: "§quote", written: quotes[Number(quoted)] ?? "", kind: "quote", endsClause }];
  }
  // A full stop at the end of a path such as `..` belongs to it.
  const written = /^\.{1,2}$|^…$/.test(piece) ? piece : middle.replace(/(?<=[./]\S*)['’]s$/, "");
  if (written === "" || written === "…") return [];
  if (SPOKEN_SLASH.test(written)) return wordsIn(written.replaceAll("/", " "), endsClause);
  const kind = kindOf(written, isShouting);
  return kind === undefined ? wordsIn(written, endsClause) : [{ plain: `§${kind}`, written, kind, endsClause }];
}

/** Expressions of programs that look like names of files. */
const EXPRESSION =
  /^(process|console|module|window|document|sys|json|promise|req|res|self|this|np|pd|math|object|array)\.[a-z_]\w*(\.\w+)*$/i;

function kindOf(word: string, isShouting: boolean): OperandKind | undefined {
  if (EXPRESSION.test(word)) return "variable";
  if (/^[:#]?\d+([ªºa°]|st|nd|rd|th)?$/i.test(word) || NUMBER_WORDS.has(plainWords(word))) return "number";
  if (HOST.test(word)) return "host";
  if (!isShouting && VARIABLE.test(word)) return "variable";
  if (REVISION.test(word)) return "revision";
  // `.env` looks like the ending of names, and is a name.
  if (BARE_FILES.test(plainWords(word))) return "file";
  if (KNOWN_FOLDERS.test(word)) return "path";
  if (GLOB.test(word)) return "glob";
  if (!/[/.~]/.test(word)) return undefined;
  if (/^\d+([./]\d+)*%?$/.test(word)) return undefined;
  if (FILE_NAME.test(word)) return "file";
  return PATH.test(word) ? (looksLikeFile(word) ? "file" : "path") : undefined;
}

/** Plain words of a piece: `what's` is two, and so is `10MB`. */
function wordsIn(piece: string, endsClause: boolean): readonly Token[] {
  const words = piece
    .replace(/(\w)['’]s$/g, "$1 is")
    .replace(/^(\w+)-wise$/i, "$1")
    .replace(/^(\d+)([a-z]+)$/i, "$1 $2")
    .split(/\s+/)
    .map((word) => ({
      word,
      plain: plainWords(word)
        .replace(/[^a-z0-9_@.+-]+/g, "")
        .replace(/^[-.]+|[-.]+$/g, ""),
    }))
    .filter(({ plain }) => plain !== "");
  return words.map(({ word, plain }, index) => ({
    ...(/^\d+$/.test(plain) ? ({ plain: "§number", kind: "number" } as const) : { plain }),
    written: word,
    endsClause: endsClause && index === words.length - 1,
  }));
}

function liftQuotes(text: string, mark: (inner: string) => string): string {
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
      result += inner.trim() === "" ? " " : mark(inner);
      at = end + 1;
    }
  }
  return result;
}

function opensQuote(text: string, at: number): boolean {
  return CLOSING.has(text.charAt(at)) && (at === 0 || /[\s(:,;=¿¡]/.test(text.charAt(at - 1)));
}

// An apostrophe inside a word ends nothing, so that 'don't' stays one text.
function closingAt(text: string, from: number, close: string): number {
  for (let at = text.indexOf(close, from); at >= 0; at = text.indexOf(close, at + 1)) {
    const escaped = text.charAt(at - 1) === "\\";
    const next = text.charAt(at + 1);
    if (!escaped && (next === "" || /[\s,;:.?!)]/.test(next))) return at;
  }
  return -1;
}
