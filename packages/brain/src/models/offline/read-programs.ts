import { areJoined, isKindOnly, namesIn, operands, unknownNames } from "./slots.ts";
import { plainWords } from "./tokens.ts";
import type { Token } from "./tokens.ts";
import type { Intent, Want } from "./want.ts";

/** Reads the wants of an intent from a sentence; undefined when the sentence lacks what it needs. */
export type Reader = (tokens: readonly Token[], kind: Intent) => readonly Want[] | undefined;

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** One want for each name. */
export const named: Reader = (tokens, kind) => {
  const names = namesIn(tokens, kind);
  const all = names.length > 0 ? names : operands(tokens, "file", "host").map(({ written }) => written);
  return manyOf(all, tokens, kind);
};

function manyOf(all: readonly string[], tokens: readonly Token[], kind: Intent): readonly Want[] | undefined {
  const isSeveral = all.length > 1 && all.length <= 3 && areJoined(tokens, all);
  const found = isSeveral ? all : all.slice(0, 1);
  return found.length === 0 ? undefined : found.map((name) => ({ kind, name }));
}

/** What processes may be, and what people make of code: no program is called so. */
const CONDITIONS = words(
  `zombie zombies zombi zombis zumbi zumbis defunct orphan orphans orfaos huerfanos stuck hung build builds compilacao
   runaway rogue stray desbocado descontrolado enlouquecido
   compilacion deploy deployment despliegue hanging working moving spinning left`,
);

/** The programs that a sentence names. */
export const programmed: Reader = (tokens, kind) => {
  const names = unknownNames(tokens, kind);
  const all = names.length > 0 ? names : operands(tokens, "file", "host").map(({ written }) => written);
  const wants = manyOf(all, tokens, kind);
  // Names of programs have no accents: "how many live in México" asks for no process.
  const isNone = (name: string) =>
    /-(ish|like|related)$/.test(name) || CONDITIONS.has(name.toLowerCase()) || plainWords(name) !== name.toLowerCase();
  if (wants?.some(({ name = "" }) => isNone(name) || isKindOnly(plainWords(name)))) return undefined;
  if (wants !== undefined) return wants;
  const programs = tokens.filter(({ plain: word }) => PROGRAM_WORDS.has(word)).map(({ written }) => written);
  return manyOf(programs, tokens, kind)?.map((want) => ({ ...want, name: plainWords(want.name ?? "") }));
};

/** The processes of a program that is named, else all. */
export const processesCounted: Reader = (tokens, kind) => {
  const unknown = unknownNames(tokens, kind)[0];
  const name = unknown ?? tokens.find(({ plain: word }) => PROGRAM_WORDS.has(word))?.written;
  return [name === undefined ? { kind } : { kind: "running", name }];
};

/** Words of questions that are programs, too. */
const PROGRAM_WORDS = words(
  "git docker node python make cron podman grep cat java go npm ruby php rust ssh sshd bash systemd redis mysql postgres apache express vim nano",
);

/** Whether a word of questions is a program, too. */
export function isProgramWord(word: string): boolean {
  return PROGRAM_WORDS.has(word);
}
