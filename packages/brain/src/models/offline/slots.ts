import { LEXICON, wordsOfIntent } from "./classifier.ts";
import { looksLikeFile, numberIn, plainWords } from "./tokens.ts";
import type { OperandKind, Token } from "./tokens.ts";
import type { Intent } from "./want.ts";
import { isGenericWord } from "./words.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const FOLDER_NOUNS = words(
  "folder folders directory dir pasta diretorio carpeta directorio folder's subfolder subpasta subcarpeta",
);
const FILE_NOUNS = words("file files arquivo arquivos archivo archivos ficheiro ficheiros fichero ficheros");
const PLACES = words(
  "in inside under within through throughout across of at from em no na nos nas dentro de da do dos das en del below into sob bajo",
);
const ARTICLES = words("the a o os as la el los las this my our meu minha mi");

/** Operands of the given kinds, in their order. */
export function operands(tokens: readonly Token[], ...kinds: readonly OperandKind[]): readonly Token[] {
  return tokens.filter(({ kind }) => kind !== undefined && kinds.includes(kind));
}

/** The numbers that a sentence says. */
export function numbersIn(tokens: readonly Token[]): readonly number[] {
  const isFigure = ({ written }: Token) => /\d/.test(written);
  const said = tokens.filter((token) => numberIn(token) !== undefined);
  // "One of the last 8": figures say it, words may only sound like it.
  return (said.some(isFigure) ? said.filter(isFigure) : said).flatMap((token) => numberIn(token) ?? []);
}

/** Words of a sentence that an intent's phrases do not account for: names, most likely. */
export function strangeWords(tokens: readonly Token[], intent: Intent): readonly Token[] {
  const own = wordsOfIntent(intent);
  const isOrdinary = ({ plain, kind, written }: Token): boolean =>
    kind !== undefined ||
    (isGenericWord(plain) && !isSpelledAsName(written)) ||
    (own.has(plain) && !isSpelledAsName(written)) ||
    (LEXICON.correct(plain) !== plain && own.has(LEXICON.correct(plain)));
  return tokens.filter((token) => !isOrdinary(token));
}

/** Whether a word is spelled as names in programs are: `createServer`, `user_id`, `FAILED`. */
function isSpelledAsName(written: string): boolean {
  return /[a-z][A-Z]|_|^[A-Z]{3,}$|::/.test(written);
}

/** Intents whose names and texts may be any word; the others name programs, hosts or nothing. */
const OF_ANY_NAME: ReadonlySet<Intent> = new Set([
  "accounts",
  "commit",
  "copy",
  "count-files",
  "delete",
  "find",
  "folder-size",
  "list",
  "make-branch",
  "make-file",
  "make-folder",
  "read",
  "rename",
  "search",
  "switch-branch",
]);

/** Whether the names of an intent may be any word. */
export function takesAnyName(intent: Intent): boolean {
  return OF_ANY_NAME.has(intent);
}

/** The name that a sentence is about: what is quoted, else a word that nothing accounts for, unknown words first. */
export function namesIn(tokens: readonly Token[], intent: Intent): readonly string[] {
  const quoted = operands(tokens, "quote").map(({ written }) => written.trim());
  if (quoted.length > 0) return quoted;
  const called = calledName(tokens);
  if (called !== undefined) return [called];
  const strange = strangeWords(tokens, intent);
  const unknown = strange.filter(({ plain, written }) => LEXICON.isNameLike(plain) || isSpelledAsName(written));
  // Names of programs have no accents.
  const plainly = unknown.filter(({ written }) => /^[\x21-\x7e]+$/.test(written));
  const best = plainly.length > 0 ? plainly : unknown.length > 0 ? unknown : strange;
  return best.map(({ written }) => nameOf(written));
}

/** The names of a sentence that are no words of every day: those of programs, packages and hosts. */
export function unknownNames(tokens: readonly Token[], intent: Intent): readonly string[] {
  const isQuoted = operands(tokens, "quote").length > 0 || calledName(tokens) !== undefined;
  return namesIn(tokens, intent).filter(
    (name) => isQuoted || LEXICON.isNameLike(plainWords(name)) || isSpelledAsName(name),
  );
}

const CALLED = /^(called|named|chamad[oa]s?|llamad[oa]s?|llam[ae]n?|cham[ae]m?)$/;

/** The name behind a word such as "called": "a folder called reports", "que se llame informes". */
function calledName(tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex(({ plain }) => CALLED.test(plain));
  const next = at < 0 || tokens[at]?.endsClause === true ? undefined : tokens[at + 1];
  if (next === undefined || (next.kind === undefined && isGenericWord(next.plain))) return namedPart(tokens);
  return nameOf(next.written);
}

/** The part of a name that is asked for: "with server in the name", "com server no nome". */
function namedPart(tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex(({ plain }) => /^(name|names|nome|nombre)$/.test(plain));
  const from = tokens.findLastIndex(
    ({ plain }, place) => place < at && /^(with|containing|having|com|con)$/.test(plain),
  );
  const [part, joint] = from < 0 ? [] : tokens.slice(from + 1, at);
  const isPlaced = /^(in|on|no|em|en)$/.test(joint?.plain ?? "");
  return part !== undefined && isPlaced ? nameOf(part.written) : undefined;
}

/** Whether "and", "or" or a comma stands between two names. */
export function areJoined(tokens: readonly Token[], names: readonly string[]): boolean {
  const places = names.map((name) => tokens.findIndex(({ written }) => nameOf(written) === name));
  return places.slice(1).every((place, at) => {
    const between = tokens.slice((places[at] ?? 0) + 1, place);
    const isComma = tokens[places[at] ?? 0]?.endsClause === true;
    return (
      isComma ||
      (between.length <= 2 && between.some(({ written }) => /^(and|or|e|ou|y|o|u|nor|nem|ni)$/i.test(written)))
    );
  });
}

/** A person that a sentence names: in capitals, or behind a word such as "by". */
export function personIn(tokens: readonly Token[], intent: Intent): string | undefined {
  const isBehind = (at: number) => /^(by|did|por|hizo|fez)$/.test(tokens[at - 1]?.plain ?? "");
  const strange = new Set(strangeWords(tokens, intent));
  const isProper = ({ plain, written }: Token) =>
    /^\p{Lu}\p{Ll}/u.test(written) && LEXICON.meanings(plain).length === 0 && !isGenericWord(plain);
  const isSaid = (token: Token, at: number) =>
    strange.has(token) && LEXICON.isNameLike(token.plain) && (at === 0 ? isProper(token) : isBehind(at));
  const found = tokens.find((token, at) => (at > 0 && isProper(token)) || isSaid(token, at));
  return found?.written;
}

/** A name without what people put around it. */
function nameOf(written: string): string {
  return written.replace(/^['"]+|['"’]+$/g, "");
}

/** Paths that a sentence names: by their looks, else a folder without a slash such as `src` in "files in src". */
export function pathsIn(tokens: readonly Token[], intent: Intent): readonly string[] {
  const written = [
    ...operands(tokens, "path", "file"),
    ...operands(tokens, "quote").filter(({ written: text }) => /^[^\s]*[./][^\s]*$/.test(text)),
  ];
  if (written.length > 0) return written.map((token) => token.written);
  const strange = new Set(strangeWords(tokens, intent));
  const placed = tokens.filter((token, at) => strange.has(token) && isNamedPlace(tokens, at));
  // "How heavy is src": the one word that nothing else accounts for.
  const isName = (token: Token) =>
    LEXICON.isNameLike(token.plain) && !KINDS.has(token.plain) && /^[\w@.+-]+$/.test(token.written);
  const unknown = [...strange].filter(isName);
  const isAlone = unknown.length === 1 && SIZED.has(intent);
  return (placed.length > 0 || !isAlone ? placed : unknown).map((token) => token.written);
}

/** Intents that are about one path, whatever stands before it. */
const SIZED: ReadonlySet<Intent> = new Set(["folder-size", "count-files"]);

/** Meanings of words for the present folder and what is in it: "in this project" names no folder. */
const ALL_HERE: ReadonlySet<string> = new Set(["folder", "file", "project", "git", "machine"]);

/** Whether a word stands where the name of a folder stands: "in src", "the docs folder", "pasta docs". */
function isNamedPlace(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (token === undefined || !/^[\w@.+-]+$/.test(token.written)) return false;
  if (LEXICON.meanings(token.plain).some((meaning) => ALL_HERE.has(meaning))) return false;
  const isFolder = (index: number) => FOLDER_NOUNS.has(tokens[index]?.plain ?? "");
  if ((isFolder(at + 1) || isFolder(at - 1)) && !isDescribing(token)) return true;
  const before = ARTICLES.has(tokens[at - 1]?.plain ?? "") ? at - 2 : at - 1;
  const isPlaced = PLACES.has(tokens[before]?.plain ?? "") || isFolder(before);
  const isLast = tokens.slice(at + 1).every(({ plain, kind }) => kind === undefined && isGenericWord(plain));
  return isPlaced && (!LEXICON.knows(token.plain) || isLast);
}

/** Whether a word tells which folder is meant without being its name: "the biggest folder". */
function isDescribing({ plain }: Token): boolean {
  return LEXICON.meanings(plain).some((meaning) =>
    /^(big|most|first|last|empty|size|modified|full|used|change|list|search|read)$/.test(meaning),
  );
}

/** Names that folders often have, although they mean something else as well. */
const USUAL_FOLDERS = words(
  "src docs doc tests test lib libs logs data scripts build dist public assets config packages bin tmp images",
);

/** The tokens with the name of a folder as a path, where it stands beside the word for one: "the docs folder", "pasta build". */
export function withFolders(tokens: readonly Token[]): readonly Token[] {
  const isFolder = (at: number) => SINGLE_FOLDER.test(tokens[at]?.plain ?? "");
  return tokens.map((token, at) => {
    const { plain, kind, written, endsClause } = token;
    const isName = kind === undefined && /^[\w@.+-]+$/.test(written) && !isGenericWord(plain);
    const isBeside = (isFolder(at - 1) && tokens[at - 1]?.endsClause !== true) || (isFolder(at + 1) && !endsClause);
    if (!isName || !isBeside || !(USUAL_FOLDERS.has(plain) || LEXICON.isNameLike(LEXICON.correct(plain)))) return token;
    return { plain: "§path", kind: "path", written, endsClause };
  });
}

const SINGLE_FOLDER = /^(folder|directory|pasta|diretorio|carpeta|directorio)$/;

const COMMON_FILES: ReadonlyMap<string, string> = new Map(
  `readme:readme leiame:readme leia-me:readme leeme:readme license:license licence:license licenca:license licencia:license
   changelog:changelog`
    .split(/\s+/)
    .map((pair) => [pair.split(":")[0] ?? "", pair.split(":")[1] ?? ""] as const),
);

/** The name of a file that people know by one without an ending, in any of the languages. */
export function commonName(written: string | undefined): string | undefined {
  return written === undefined ? undefined : (COMMON_FILES.get(plainWords(written)) ?? written);
}

/** A file that a sentence names: by its looks, as `readme`, or behind the word for a file. */
export function filesIn(tokens: readonly Token[], intent: Intent): readonly string[] {
  const shown = operands(tokens, "file", "path", "quote", "glob").map(({ written }) => commonName(written) ?? written);
  if (shown.length > 0) return shown;
  const strange = strangeWords(tokens, intent);
  const unknown = strange.filter(({ plain }) => LEXICON.isNameLike(plain));
  return (unknown.length > 0 ? unknown : strange).map(({ written }) => written);
}

/** Whether any word of the sentence is one of these, also when it is misspelt. */
export function says(tokens: readonly Token[], set: ReadonlySet<string>): boolean {
  return tokens.some(({ plain }) => set.has(plain) || set.has(LEXICON.correct(plain)));
}

const KINDS: ReadonlyMap<string, string> = new Map(
  `markdown:*.md md:*.md typescript:*.ts ts:*.ts javascript:*.js js:*.js python:*.py py:*.py rust:*.rs ruby:*.rb java:*.java
   golang:*.go json:*.json yaml:*.{yaml,yml} yml:*.{yaml,yml} toml:*.toml css:*.css html:*.html sql:*.sql shell:*.sh sh:*.sh
   bash:*.sh csv:*.csv xml:*.xml pdf:*.pdf pdfs:*.pdf text:*.txt txt:*.txt texto:*.txt log:*.log logs:*.log zip:*.zip
   image:*.{png,jpg,jpeg,gif,svg,webp} images:*.{png,jpg,jpeg,gif,svg,webp} imagem:*.{png,jpg,jpeg,gif,svg,webp}
   imagens:*.{png,jpg,jpeg,gif,svg,webp} imagen:*.{png,jpg,jpeg,gif,svg,webp} imagenes:*.{png,jpg,jpeg,gif,svg,webp}
   png:*.png jpg:*.{jpg,jpeg} jpeg:*.{jpg,jpeg} svg:*.svg conf:*.conf lock:*.lock php:*.php tsx:*.tsx jsx:*.jsx ini:*.ini
   ipynb:*.ipynb cpp:*.cpp test:*test* tests:*test* teste:*test* testes:*test* hidden:.* oculto:.* ocultos:.*`
    .split(/\s+/)
    .map((pair) => [pair.slice(0, pair.indexOf(":")), pair.slice(pair.indexOf(":") + 1)] as const),
);

/** The pattern of names for a kind of file, such as "python". */
export function kindIn(tokens: readonly Token[]): string | undefined {
  const extension = operands(tokens, "glob").find(({ written }) => /^\.[a-z0-9]+$/i.test(written));
  if (extension !== undefined) return `*${extension.written}`;
  return tokens.map(({ plain }) => KINDS.get(plain)).find((pattern) => pattern !== undefined);
}

const KIND_PROGRAMS = words("python java ruby php rust golang bash shell sh conf lock test tests");

/** Whether a word names a kind of file and no program. */
export function isKindOnly(word: string): boolean {
  return KINDS.has(word) && !KIND_PROGRAMS.has(word);
}

/** Whether a sentence speaks of folders and not of files. */
export function asksForFolders(tokens: readonly Token[]): boolean {
  const folders = words(
    "folders directories dirs pastas diretorios carpetas directorios subfolders subpastas subcarpetas",
  );
  return says(tokens, folders) && !says(tokens, FILE_NOUNS);
}

/** Whether a path names a folder: by a slash at its end, or by the word for one. */
export function isFolderNamed(tokens: readonly Token[], path: string): boolean {
  return path.endsWith("/") || (says(tokens, FOLDER_NOUNS) && !looksLikeFile(path));
}

const UNITS: readonly (readonly [ReadonlySet<string>, number])[] = [
  [words("minute minutes min minuto minutos mins"), 1],
  [words("hour hours hora horas h hrs"), 60],
  [words("day days dia dias d"), 1440],
  [words("week weeks semana semanas"), 10_080],
  [words("month months mes meses"), 43_200],
];

/** The span of time that a sentence names, in minutes: "the last 2 days", "today", "this week". */
export function minutesIn(tokens: readonly Token[]): number | undefined {
  for (const [at, token] of tokens.entries()) {
    const unit = UNITS.find(([names]) => names.has(tokens[at + 1]?.plain ?? ""))?.[1];
    const count = numberIn(token);
    if (count !== undefined && unit !== undefined) return count * unit;
  }
  if (says(tokens, words("today hoje hoy"))) return 1440;
  if (says(tokens, words("yesterday ontem ayer"))) return 2880;
  if (says(tokens, words("week semana"))) return 10_080;
  if (says(tokens, words("month mes"))) return 43_200;
  return says(tokens, LAST_SPAN)
    ? UNITS.find(([names]) => tokens.some(({ plain }) => isOneUnit(plain, names)))?.[1]
    : undefined;
}

/** Words before a span without a number: "the last hour". */
const LAST_SPAN = words("last past ultima ultimo pasada pasado passada passado");

function isOneUnit(word: string, unit: ReadonlySet<string>): boolean {
  return unit.has(word) && /^(hour|hora|day|dia|minute|minuto)$/.test(word);
}

/** The size that a sentence names, in MiB: "bigger than 10 MB". */
export function mebibytesIn(tokens: readonly Token[]): number | undefined {
  const scale = new Map([
    ["kb", 1 / 1024],
    ["k", 1 / 1024],
    ["mb", 1],
    ["mib", 1],
    ["m", 1],
    ["mega", 1],
    ["megas", 1],
    ["meg", 1],
    ["megs", 1],
    ["megabyte", 1],
    ["megabytes", 1],
    ["gb", 1024],
    ["gib", 1024],
    ["g", 1024],
    ["gig", 1024],
    ["gigs", 1024],
    ["giga", 1024],
    ["gigas", 1024],
    ["gigabyte", 1024],
    ["gigabytes", 1024],
  ]);
  for (const [at, token] of tokens.entries()) {
    const unit = scale.get(tokens[at + 1]?.plain ?? "");
    const count = numberIn(token);
    if (count !== undefined && unit !== undefined) return count * unit;
  }
  return undefined;
}

const ORDINALS = new Map(
  `first:1 second:2 third:3 fourth:4 fifth:5 sixth:6 seventh:7 eighth:8 ninth:9 tenth:10 primeira:1 segunda:2 terceira:3 quarta:4
   quinta:5 sexta:6 setima:7 oitava:8 nona:9 decima:10 primera:1 tercera:3 cuarta:4 septima:7 octava:8 novena:9 primeiro:1
   segundo:2 terceiro:3 quarto:4 quinto:5 primer:1 primero:1 tercer:3 tercero:3 cuarto:4`
    .split(/\s+/)
    .map((pair) => [pair.split(":")[0] ?? "", Number(pair.split(":")[1])] as const),
);
/** The place that an ordinal says: "third" is 3. */
export function ordinalIn(tokens: readonly Token[]): number | undefined {
  return tokens.map(({ plain }) => ORDINALS.get(plain)).find((place) => place !== undefined);
}

const LINES = words("line lines linha linhas linea lineas");
const FIRST = words(
  "first primeira primeiras primeiro primeiros primera primeras primer primeros head beginning comeco comecinho inicio principio top start begin begins comeca empieza starts",
);
const LAST = words(
  "last ultima ultimas ultimo ultimos tail end ends fim finalzinho finzinho final bottom latest termina acaba cola",
);

/** Which lines of a file are meant: so many from its beginning or its end, or one by its number. */
export function linesIn(tokens: readonly Token[]): { first?: number; last?: number; line?: number } {
  const [number] = numbersIn(tokens);
  const isOne = tokens.some(({ plain }, at) => {
    const isLine = plain === "line" || plain === "linha" || plain === "linea";
    return (
      isLine && (tokens[at + 1]?.kind === "number" || /^\d+[ªºa°]|(st|nd|rd|th)$/i.test(tokens[at - 1]?.written ?? ""))
    );
  });
  if (isOne && number !== undefined) return { line: number };
  if (says(tokens, LAST))
    return says(tokens, LINES) && number === undefined && isSingular(tokens) ? { last: 1 } : { last: number ?? 10 };
  const ordinal = ordinalIn(tokens);
  if (ordinal !== undefined && number === undefined && isSingular(tokens)) return { line: ordinal };
  return says(tokens, FIRST) ? { first: number ?? 10 } : {};
}

function isSingular(tokens: readonly Token[]): boolean {
  return tokens.some(({ plain }) => plain === "line" || plain === "linha" || plain === "linea");
}

type DefinedFields<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** An object without the fields that are undefined. */
export function withoutUndefined<T extends object>(fields: T): DefinedFields<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as DefinedFields<T>;
}
