import { looksLikeFile } from "./tokens.ts";
import type { Token } from "./tokens.ts";
import type { Intent, Want } from "./want.ts";
import { LEXICON } from "./classifier.ts";
import { isGenericWord } from "./words.ts";

/** Words that stand for what was named before. */
const PRONOUNS = /^(it|that|ele|ela|dele|dela|nele|nela|isso|disso|eso|ello|lo)$/;
/** Words with which a noun stands for what was named before: "that file". */
const POINTING = /^(that|same|esse|essa|desse|dessa|nesse|nessa|ese|esa|aquele|aquela|mesmo|mesma|mismo|misma)$/;
const FILES = /^(file|arquivo|ficheiro|archivo|fichero)$/;
const FOLDERS = /^(folder|directory|pasta|carpeta)$/;

/** Intents that ask about one path. */
const OF_PATH: ReadonlySet<Intent> = new Set([
  "count-files",
  "count-lines",
  "file-info",
  "folder-size",
  "git-blame",
  "git-diff",
  "git-log",
  "largest",
  "largest-folders",
  "list",
  "log-errors",
  "read",
]);

/** The sentence with what it leans on in the place of the word that stands for it; undefined when no word does. */
export function withReferent(tokens: readonly Token[], { path, name }: Want): readonly Token[] | undefined {
  const nouns = path !== undefined && looksLikeFile(path) ? FILES : FOLDERS;
  const noun = tokens.findIndex(({ plain }, at) => nouns.test(plain) && POINTING.test(tokens[at - 1]?.plain ?? ""));
  if (noun < 0 && tokens.some(({ plain }) => FILES.test(plain) || FOLDERS.test(plain))) return undefined;
  const from = noun > 0 ? noun - 1 : tokens.findLastIndex(({ plain }) => PRONOUNS.test(plain));
  const end = noun > 0 ? noun : from;
  const token = tokens[end];
  if (from < 0 || token === undefined) return undefined;
  const { endsClause } = token;
  if (path !== undefined && path !== ".") {
    const kind = looksLikeFile(path) ? ("file" as const) : ("path" as const);
    return tokens.toSpliced(from, end - from + 1, { plain: `§${kind}`, written: path, kind, endsClause });
  }
  if (name === undefined) return undefined;
  return tokens.toSpliced(from, end - from + 1, { plain: name.toLowerCase(), written: name, endsClause });
}

/** Whether wants are about a path that the sentence does not name. */
export function lacksPath(wants: readonly Want[]): boolean {
  return wants.every(({ kind, path }) => OF_PATH.has(kind) && (path === undefined || path === "."));
}

/** Meanings that say what is asked about, so that nothing is left to lean on. */
const SUBJECTS: ReadonlySet<string> = new Set([
  "file",
  "folder",
  "project",
  "git",
  "machine",
  "commit",
  "language",
  "log",
]);

/** The wants with the path of the one before, where a sentence names nothing that they could be about: "how many are there". */
export function onPathOf(wants: readonly Want[], tokens: readonly Token[], before: Want | undefined): readonly Want[] {
  const path = before?.path;
  if (path === undefined || path === "." || !lacksPath(wants)) return wants;
  const isSubject = ({ plain, kind }: Token) =>
    kind !== undefined ||
    /^(here|aqui|aca|ahi)$/.test(plain) ||
    LEXICON.meanings(plain).some((meaning) => SUBJECTS.has(meaning));
  return tokens.some(isSubject) ? wants : wants.map((want) => ({ ...want, path }));
}

const HOW_MANY = /^(many|count|quantos|quantas|cuantos|cuantas)$/;
/** Intents whose answers begin with how many there are. */
const COUNTED: ReadonlySet<Intent> = new Set([
  "containers",
  "dependencies",
  "find",
  "git-branches",
  "git-stash",
  "git-tags",
  "ports",
  "search",
  "services",
]);

/** What "how many are there" asks after a listing. */
export function countedAgain(tokens: readonly Token[], last: Want): readonly Want[] | undefined {
  const isBare = tokens.every(
    ({ plain, kind }) => kind === undefined && (HOW_MANY.test(plain) || isGenericWord(plain)),
  );
  if (!isBare || !tokens.some(({ plain }) => HOW_MANY.test(plain))) return undefined;
  if (last.kind === "list") return [{ kind: "count-files", path: last.path ?? "." }];
  return COUNTED.has(last.kind) ? [last] : undefined;
}
