import { OFFLINE_LIMITS } from "@vidro/core";
import { LEXICON } from "./classifier.ts";
import { countedAgain } from "./lean.ts";
import { isProgramWord } from "./read-programs.ts";
import { minutesIn, numbersIn, operands } from "./slots.ts";
import { plainWords } from "./tokens.ts";
import type { Token } from "./tokens.ts";
import type { Intent, Understanding, Want } from "./want.ts";
import { isStopWord } from "./words.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const AGAIN = words(
  "only just top apenas solamente again once repeat refresh novo novamente vez outra repita atualizado otra nuevo repite now agora ahora",
);
/** Words that say a number of rows again: "make it 10", "and the last 5". */
const ROWS = words(
  `last first latest make more ultimo ultimos ultima ultimas primeiro primeiros primeira primeiras primero primeros primera primeras
   biggest largest maiores mayores grandes mostra muestra show faz haz pon bota coloca`,
);
const PLACE = words(
  "folder directory pasta diretorio carpeta directorio file arquivo archivo port porta puerto instead em",
);
const MEMORY = words("memory ram memoria");
const CPU = words("cpu processor processador procesador");
const BY = words("by por pela pelo sorted ordered ordenados");

/**
 * What a task means that only leans on the one before it: "and in /var?", "and 443?", "again", "by memory". A task with a
 * word of its own, or with a quoted text, is a request of its own.
 */
export function followUp(tokens: readonly Token[], { wants }: Understanding): readonly Want[] | undefined {
  const last = wants.at(-1);
  if (last === undefined || tokens.length === 0 || tokens.length > OFFLINE_LIMITS.followUpWords) return undefined;
  if (operands(tokens, "quote").length > 0) return undefined;
  const plain = tokens.filter(({ kind }) => kind === undefined).map((token) => token.plain);
  const reordered = byOther(plain, last);
  if (reordered !== undefined) return [reordered];
  const again = countedAgain(tokens, last);
  if (again !== undefined) return again;
  const [number] = numbersIn(tokens);
  const isIdle = (word: string) => AGAIN.has(word) || PLACE.has(word) || isStopWord(word);
  const named = tokens.filter((token) => token.kind === undefined && !isIdle(token.plain));
  if (number === undefined && named.length === 1 && named[0] !== undefined && isLeading(tokens))
    return ofOther(named[0].written, last) ?? withinOther(tokens, last);
  if (number !== undefined && minutesIn(tokens) === undefined && plain.every((word) => isIdle(word) || ROWS.has(word)))
    return withNumber(last, number);
  if (named.length > 0) return undefined;
  const [path] = operands(tokens, "path", "file").map(({ written }) => written);
  if (path !== undefined) return elsewhere(last, path);
  const [host] = operands(tokens, "host").map(({ written }) => written);
  if (host !== undefined && last.kind === "reach") return [{ kind: "reach", name: host }];
  return plain.some((word) => AGAIN.has(word)) && last.kind !== "run" ? wants : undefined;
}

const LEADS = /^(and|e|y|what|how|same|also|or|ou|o)$/;

/** Whether a sentence begins as one that leans on another: "and src?", "what about curl?". */
function isLeading([first, second]: readonly Token[]): boolean {
  const lead = first?.plain ?? "";
  if (lead === "what" || lead === "how") return second?.plain === "about";
  return LEADS.test(lead);
}

const FOLDERS = words("src docs doc tests test lib logs data scripts build dist public assets config packages bin tmp");
/** Intents that ask about a program or a package. */
export const OF_PROGRAM: ReadonlySet<Intent> = new Set(["running", "service", "installed", "version", "dependencies"]);
const OF_PERSON = new Set(["git-log", "count-commits"]);

/** The last want for another name: a folder, a program, a person, a text. */
function ofOther(written: string, last: Want): readonly Want[] | undefined {
  const word = plainWords(written);
  const isName = LEXICON.isNameLike(word);
  const hasPath = (PLACED.has(last.kind) || OF_FILES.has(last.kind)) && last.name === undefined;
  if (last.kind === "search" && (isName || /^[A-Z]{3,}$/.test(written))) return [{ ...last, text: written }];
  if (hasPath && last.kind !== "search" && (isName || FOLDERS.has(word))) return [{ ...last, path: written }];
  const isProgram = OF_PROGRAM.has(last.kind) && last.name !== undefined && (isName || isProgramWord(word));
  const isPerson = OF_PERSON.has(last.kind) && last.name !== undefined && isName;
  return isProgram || isPerson ? [{ ...last, name: written }] : undefined;
}

/** What a clause means that only names another program: "the version of python and of node". */
export function sameOfOther(tokens: readonly Token[], last: Want): readonly Want[] | undefined {
  const [name, more] = tokens.filter(({ kind, plain }) => kind !== undefined || !isStopWord(plain));
  const isOne = name !== undefined && more === undefined && name.kind === undefined;
  return isOne && OF_PROGRAM.has(last.kind) ? ofOther(name.written, last) : undefined;
}

/** The last want for another span of time: "and this week?". */
function withinOther(tokens: readonly Token[], last: Want): readonly Want[] | undefined {
  const minutes = minutesIn(tokens);
  return minutes === undefined || last.minutes === undefined ? undefined : [{ ...last, minutes }];
}

function byOther(plain: readonly string[], last: Want): Want | undefined {
  const isOrder = last.kind === "top-cpu" || last.kind === "top-memory";
  if (!isOrder || !plain.some((word) => BY.has(word)) || plain.length > 5) return undefined;
  if (plain.some((word) => MEMORY.has(word))) return { ...last, kind: "top-memory" };
  return plain.some((word) => CPU.has(word)) ? { ...last, kind: "top-cpu" } : undefined;
}

const PLACED = new Set([
  "disk",
  "inodes",
  "largest",
  "largest-folders",
  "list",
  "read",
  "find",
  "search",
  "folder-size",
]);
const OF_FILES = new Set(["count-files", "count-lines", "file-info", "git-blame", "git-diff", "git-log", "log-errors"]);

function elsewhere(want: Want, path: string): readonly Want[] | undefined {
  return PLACED.has(want.kind) || OF_FILES.has(want.kind) ? [{ ...want, path }] : undefined;
}

function withNumber(want: Want, number: number): readonly Want[] | undefined {
  if (want.kind === "ports") return [{ kind: "ports", number }];
  if (want.kind === "read" && want.line !== undefined) return [{ ...want, line: number }];
  const isCounted = ["largest", "largest-folders", "top-cpu", "top-memory", "git-log", "log-tail"].includes(want.kind);
  return isCounted ? [{ ...want, count: number }] : undefined;
}
