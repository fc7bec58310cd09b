import { anyCase, either, charRun, wholeSource, literal } from "./pattern.ts";
import type { Pattern, Step } from "./pattern.ts";
import { runOf } from "./scan.ts";
import { ANYWHERE, HAS_MIXED_CASE, hasDigit, NO_TAIL, VALUE_CHARS } from "./shape.ts";
import type { Shape } from "./shape.ts";

/* Secrets that are recognised by the name before them, in English, Portuguese and Spanish. */

const SPACE = String.raw`[ \t]`;
/** A quote: plain, escaped inside a quoted string, or doubled. */
export const QUOTE: Pattern = [charRun(String.raw`\\`, 0, 3), charRun("[\"'`]", 1)];
/** An optional quote. */
export const MAYBE_QUOTE: Step = either([], QUOTE);
/** The operators that assign a value to a name. */
export const EQUALS: Pattern = [
  charRun(SPACE, 0, 4),
  either(
    literal(":="),
    literal("=>"),
    [charRun("[:=]", 1)],
    [...literal("%3"), charRun("[AaDd]", 1)],
    literal("\\u003d"),
  ),
  charRun(SPACE, 0, 4),
];

const JOINT = charRun("[_ -]", 0, 1);

/** What a secret is for, which Portuguese and Spanish put behind it: `senha_db`, `contraseña_del_banco`. */
const OF_WHAT = either([], [charRun("[_-]", 1), charRun("[A-Za-z_-]", 1, 16)]);

/** Names of secrets that people type, such as passwords. */
const PASSWORDS: readonly Pattern[] = [
  [...anyCase("passw"), either(anyCase("or"), []), ...anyCase("d")],
  anyCase("passphrase"),
  [...anyCase("senha"), OF_WHAT],
  [
    ...anyCase("contrase"),
    either(
      [charRun("[nNñÑ]", 1), charRun("\u0303", 0, 1)],
      [...literal("\\u00"), charRun("[fFdD]", 1), charRun("1", 1)],
      [...literal("%C3%"), charRun("[B9]", 1), charRun("1", 1)],
    ),
    ...anyCase("a"),
    OF_WHAT,
  ],
  [...anyCase("palavra"), JOINT, ...anyCase("passe")],
  anyCase("passwort"),
  anyCase("kennwort"),
  [...anyCase("mot"), JOINT, ...anyCase("de"), JOINT, ...anyCase("passe")],
  [...anyCase("frase"), JOINT, ...anyCase("secreta")],
];

/** Words before `key` that make it a secret key. */
const KINDS_OF_KEYS =
  "api access private secret signing account encryption auth master storage subscription app admin shared license " +
  "service session deploy";

/** Names of secrets that programs send, such as tokens. */
const KEYS: readonly Pattern[] = [
  ...["secret", "token", "credential", "credencial", "authorization", "bearer"].map((name) => anyCase(name)),
  ...["segredo", "secreto"].map((name) => [...anyCase(name), OF_WHAT]),
  anyCase("credentials"),
  ...KINDS_OF_KEYS.split(" ").map((name) => [...anyCase(name), charRun("[_-]", 0, 1), ...anyCase("key")]),
  [...anyCase("secret"), charRun("[_-]", 0, 1), ...anyCase("key"), charRun("[_-]", 0, 1), ...anyCase("base")],
  [...anyCase("token"), JOINT, either([], [...anyCase("de"), JOINT]), either(anyCase("acesso"), anyCase("acceso"))],
  [either(anyCase("totp"), anyCase("otp"), anyCase("mfa")), charRun("[_-]", 0, 1), ...anyCase("seed")],
  [charRun("[_-]", 1), ...anyCase("auth")],
  ...["chave", "clave", "llave"].map((name) => [
    ...anyCase(name),
    JOINT,
    either([], [...anyCase("de"), JOINT]),
    either(...["api", "acesso", "acceso", "secreta", "privada"].map((what) => anyCase(what))),
  ]),
];

/** All names of secrets. */
export const NAMES: readonly Pattern[] = [...PASSWORDS, ...KEYS];
const ANY_NAME = wholeSource([either(...NAMES)]);
const ANY_PASSWORD = wholeSource([either(...PASSWORDS)]);

/** Names that other words end with; they must begin a word. */
const SHORT_NAMES: readonly Pattern[] = ["clave", "chave", "pass", "pwd"].map((name) => anyCase(name));
const NO_LETTER_BEHIND = "(?<![A-Za-z])";

const BARE = "[A-Za-z0-9_~+/!@#%^*?-]";
const QUOTED = "[^\\s\"'`\\\\]";
const BARE_TAIL = runOf("[^\\s\"'`,;)\\]}&<>\\\\]");

/** Not a number (the first digits of a UUID are none), a call, a member access, or a variable with the same name. */
const CODE = String.raw`(?!\d{1,16}\b(?!-[0-9A-Fa-f]{4}-)|\w{1,40}[.(\[]|\w{0,40}${ANY_NAME}\b)`;
/** Not a template or a placeholder. */
export const NO_TEMPLATE = "(?![$<{[*%])";
const NO_PATH = "(?![/~.])";

/** The end of a name in quotes, also as a subscript: `environ["DB_PASSWORD"]`. */
const NAME_ENDS: Pattern = [MAYBE_QUOTE, charRun("\\]", 0, 1)];

/** Values of a name, with or without quotes; an unquoted value must contain a digit, unlike a word. */
function assignments(name: Pattern, behind: string): readonly Shape[] {
  return [
    {
      behind,
      before: [...name, ...NAME_ENDS, ...EQUALS, ...QUOTE],
      // Not a short word without a digit, a version or another number with dots.
      unless: `${NO_TEMPLATE}(?!\\d{1,10}\\.[\\d.]{1,40}["'\`\\\\])(?:${hasDigit(QUOTED)}|(?=${QUOTED}{12}))`,
      secret: [charRun(QUOTED, 6, VALUE_CHARS)],
      tail: runOf(QUOTED),
    },
    {
      behind,
      before: [...name, MAYBE_QUOTE, ...EQUALS],
      unless: (behind === ANYWHERE ? "" : NO_PATH) + CODE + hasDigit(BARE),
      secret: [charRun(BARE, 6, VALUE_CHARS)],
      tail: BARE_TAIL,
    },
    {
      behind,
      before: [...name, MAYBE_QUOTE, ...EQUALS],
      unless: (behind === ANYWHERE ? "" : NO_PATH) + CODE + HAS_MIXED_CASE,
      secret: [charRun(BARE, 8, VALUE_CHARS)],
      tail: BARE_TAIL,
    },
    {
      behind,
      before: [...name, ...literal("=")],
      unless: (behind === ANYWHERE ? "" : NO_PATH) + CODE,
      secret: [charRun(BARE, 8, VALUE_CHARS)],
      tail: BARE_TAIL,
    },
  ];
}

/** Words that follow `password:` in text about passwords: requirements, error messages, types. */
const ORDINARY =
  "required optional string str text bytes null none nil undefined true false yes no empty invalid incorrect missing " +
  "wrong expired changed unchanged hidden masked must should may can the your my their his her our a an is was are not " +
  "please enter type set unset see use this that field input value if when to or and for from option flag with in on " +
  "file stdin default at least too cannot at by of files compat systemd sss nis ldap winbind " +
  "obrigatória obrigatório inválida inválido incorreta errada deve sua seu não uma um o os as para com digite informe " +
  "obligatoria obligatorio requerida incorrecta debe tu su la el los las una un para con introduzca escriba mínimo";
/** Not one of those words. */
export const NO_ORDINARY_WORD = `(?!(?:${ORDINARY.split(" ")
  .map((letters) => wholeSource([...anyCase(letters.slice(0, 1)), ...literal(letters.slice(1))]))
  .join("|")})(?![A-Za-z0-9À-ÿ]))`;
const NO_NAME_INSIDE = (set: string): string => `(?!${set}{0,48}${ANY_PASSWORD})`;

const LINE = "[^\\r\\n\"'`,;{}<>\\\\]";
const PHRASE = "[^\\r\\n\"'`\\\\]";

/** Passwords that consist of words. */
const phrases = (name: Pattern, behind: string): readonly Shape[] => [
  {
    // After a word and a space, the name is part of a sentence.
    behind: `(?<![A-Za-z,;:).] )${behind}`,
    before: [...name, MAYBE_QUOTE, ...literal(":"), charRun(SPACE, 1, 4)],
    unless: `${NO_TEMPLATE}(?![/~.!=|&(-])${NO_ORDINARY_WORD}${NO_NAME_INSIDE(LINE)}(?!\\w{1,40}[^\\w\\s\\\\!@#^*+-])(?!\\d{1,16}\\b)(?=\\S{3})`,
    secret: [charRun(LINE, 6, VALUE_CHARS)],
    tail: runOf(LINE),
  },
  {
    behind,
    before: [...name, MAYBE_QUOTE, ...EQUALS, ...QUOTE],
    unless: `${NO_TEMPLATE}${NO_ORDINARY_WORD}${NO_NAME_INSIDE(PHRASE)}(?=${PHRASE}{0,40} )`,
    secret: [charRun(PHRASE, 8, VALUE_CHARS)],
    tail: runOf(PHRASE),
  },
  {
    // `the password is hunter2`, also in Portuguese and Spanish.
    behind,
    before: [
      ...name,
      charRun(" ", 1),
      either(literal("is"), literal("é"), literal("es"), literal("eh")),
      charRun(" ", 1),
      MAYBE_QUOTE,
    ],
    unless: `(?!\\w{1,40}[([])${hasDigit(BARE)}(?=${BARE}{0,40}[A-Za-z])`,
    secret: [charRun(BARE, 6, VALUE_CHARS)],
    tail: BARE_TAIL,
  },
];

const ARGUMENT = "[^\\s\"'`\\\\]";

/** Before a name whose value stands behind a space: an option, or a variable of a Dockerfile. */
const TAKES_ARGUMENT = "(?<=--[a-z0-9-]{0,12}|ENV [A-Za-z0-9_]{0,11})";

/** Secrets in the arguments of a command line. */
const ARGUMENTS: readonly Shape[] = [
  ...SHORT_NAMES.map((name) => ({
    behind: "(?<=--(?:[a-z0-9]{1,10}-)?|ENV (?:[A-Za-z0-9]{1,9}_)?)",
    before: [...name, charRun(" ", 1, 2), MAYBE_QUOTE],
    unless: `(?![-$<[{*%|&=(/~.])(?![0-9.:]{1,40}(?:\\s|$))${hasDigit(ARGUMENT)}`,
    secret: [charRun(ARGUMENT, 6, VALUE_CHARS)],
    tail: runOf(ARGUMENT),
  })),
  ...NAMES.map((name) => ({
    behind: TAKES_ARGUMENT,
    before: [...name, charRun(" ", 1, 2), MAYBE_QUOTE],
    // A word in capitals is a placeholder in a usage text.
    unless: `(?![-$<[{*%|&=(])${NO_ORDINARY_WORD}(?![A-Z_]{2,40}(?![A-Za-z0-9]))(?!\\w{0,40}${ANY_NAME}\\b)`,
    secret: [charRun(ARGUMENT, 6, VALUE_CHARS)],
    tail: runOf(ARGUMENT),
  })),
  {
    before: [...literal("sshpass -p"), charRun(" ", 0, 1), MAYBE_QUOTE],
    unless: NO_TEMPLATE,
    secret: [charRun(ARGUMENT, 4)],
    tail: runOf(ARGUMENT),
  },
  {
    before: [
      ...literal("-u"),
      charRun(" ", 0, 1),
      charRun("[A-Za-z0-9_.@]", 1, 40),
      ...literal(" -p"),
      charRun(" ", 0, 1),
      MAYBE_QUOTE,
    ],
    unless: `${NO_TEMPLATE}(?![-/]|[0-9.:]{1,40}(?:\\s|$))`,
    secret: [charRun(ARGUMENT, 6, VALUE_CHARS)],
    tail: runOf(ARGUMENT),
  },
  {
    before: [
      either(literal("-u "), literal("--user "), literal("--user=")),
      MAYBE_QUOTE,
      charRun("[A-Za-z0-9_.@+-]", 1, 64),
      ...literal(":"),
    ],
    unless: `${NO_TEMPLATE}(?!\\d{1,16}\\b)(?:${hasDigit(ARGUMENT)}|(?=${ARGUMENT}{12}))`,
    secret: [charRun(ARGUMENT, 6, VALUE_CHARS)],
    tail: runOf(ARGUMENT),
  },
];

const GAP = either(
  [charRun(String.raw`\s`, 1, 8)],
  [charRun(String.raw`\\`, 1, 2), charRun("[nrt]", 1), charRun(" ", 0, 8)],
);

/** Secrets in the files of programs: logins of `.netrc` and `.pgpass`, elements of XML, statements of SQL. */
const FILES: readonly Shape[] = [
  {
    before: [...literal("login"), GAP, charRun("[^\\s,\\\\]", 1, 64), GAP, ...literal("password"), charRun(" ", 1, 4)],
    secret: [charRun('[^\\s\\\\"]', 3)],
    tail: runOf('[^\\s\\\\"]'),
  },
  {
    behind: ANYWHERE,
    before: [
      ...literal(":5432:"),
      charRun("[^\\s:]", 1, 64),
      ...literal(":"),
      charRun("[^\\s:]", 1, 64),
      ...literal(":"),
    ],
    secret: [charRun('[^\\s\\\\"]', 4)],
    tail: runOf('[^\\s\\\\"]'),
  },
  ...[
    ...NAMES.map((name) => ({ name, behind: ANYWHERE })),
    ...SHORT_NAMES.map((name) => ({ name, behind: "(?<=<(?:[A-Za-z0-9]{1,12}[_-])?)" })),
  ].map(({ name, behind }) => ({
    behind,
    before: [...name, ...literal(">")],
    unless: NO_TEMPLATE,
    secret: [charRun("[^\\s<>]", 4, VALUE_CHARS)],
    after: literal("</"),
    tail: NO_TAIL,
  })),
  ...[...PASSWORDS, anyCase("identified by")].map((name) => ({
    behind: ANYWHERE,
    before: [...name, charRun(" ", 1), ...QUOTE],
    unless: `${NO_TEMPLATE}${NO_ORDINARY_WORD}${NO_NAME_INSIDE(QUOTED)}`,
    secret: [charRun(QUOTED, 6, VALUE_CHARS)],
    tail: runOf(QUOTED),
  })),
];

/** Secrets that are recognised by the name before them. */
export const NAMED_SHAPES: readonly Shape[] = [
  ...NAMES.flatMap((name) => assignments(name, ANYWHERE)),
  ...SHORT_NAMES.flatMap((name) => assignments(name, NO_LETTER_BEHIND)),
  ...PASSWORDS.flatMap((name) => phrases(name, ANYWHERE)),
  ...phrases(anyCase("clave"), NO_LETTER_BEHIND),
  ...ARGUMENTS,
  ...FILES,
];
