import { plainWords, splitTask, wordsOf } from "./text.ts";
import type { Operand } from "./text.ts";
import { FOREIGN_PHRASES, FOREIGN_WORDS, GENERIC_WORDS, STOP_WORDS } from "./words.ts";

/** A task or a clause of it, as the rules see it. */
export interface Sentence {
  readonly plain: string;
  readonly words: readonly string[];
  /** The operands that occur in it, in order. */
  readonly operands: readonly Operand[];
  /** A plain word as the person spelled it. */
  spelling(word: string): string;
}

/** The sentence of a whole task. */
export function sentenceOf(task: string): Sentence {
  const text = splitTask(task);
  const spellings = new Map(task.split(/[\s?!,;:"'`()¿¡]+/).map((word) => [plainWords(word), word]));
  return part(text.plain, text.operands, (word) => spellings.get(word) ?? word);
}

/** The clauses of a sentence, each a sentence of its own. */
export function clausesOf(sentence: Sentence): readonly Sentence[] {
  const all = operandTable(sentence);
  return sentence.plain
    .split(/[,;.?!]+|\b(?:and|e|y|then|depois|luego|tambem|tambien|also)\b/)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== "")
    .map((clause) => part(clause, all, (word) => sentence.spelling(word)));
}

function part(plain: string, operands: readonly (Operand | undefined)[], spelling: (word: string) => string): Sentence {
  const words = wordsOf(plain);
  const own = words.flatMap((word) => (word.startsWith("§") ? [operands[Number(word.slice(1))]] : []));
  return { plain, words, operands: own.filter((operand) => operand !== undefined), spelling };
}

function operandTable(sentence: Sentence): readonly (Operand | undefined)[] {
  const table: (Operand | undefined)[] = [];
  const marks = sentence.words.filter((word) => word.startsWith("§"));
  marks.forEach((mark, index) => (table[Number(mark.slice(1))] = sentence.operands[index]));
  return table;
}

/** Whether any word of the sentence is in the set. */
export function has(sentence: Sentence, set: ReadonlySet<string>): boolean {
  return sentence.words.some((word) => set.has(word));
}

/** How many words of the sentence neither language nor the given sets nor the given words account for. */
export function strangers(
  sentence: Pick<Sentence, "words">,
  known: readonly ReadonlySet<string>[],
  ...also: readonly (string | undefined)[]
): number {
  const isKnown = (word: string): boolean =>
    word.startsWith("§") ||
    /^\d+$/.test(word) ||
    isCommon(word) ||
    also.includes(word) ||
    known.some((set) => set.has(word));
  return sentence.words.filter((word) => !isKnown(word)).length;
}

/** Whether the sentence asks for what no rule can do. */
export function isForeign(sentence: Sentence): boolean {
  return has(sentence, FOREIGN_WORDS) || FOREIGN_PHRASES.test(sentence.words.join(" "));
}

/** A folder that is named without a slash, as in "the largest files in src". */
export function bareFolder(sentence: Sentence): string | undefined {
  const word = (NAMED_FOLDER.exec(sentence.plain) ?? BARE_FOLDER.exec(sentence.plain))?.[1];
  return word === undefined || word.startsWith("§") || isCommon(word) || NOT_A_FOLDER.has(word) ? undefined : word;
}

const NAMED_FOLDER = /\b(?:pasta|diretorio|carpeta|directorio|folder|directory) ([a-z0-9_-]+)[ ?.!]*$/;
const BARE_FOLDER =
  /\b(?:in|inside|under|within|of|em|no|na|dentro de|de|da|do|en)(?: the| a| o| la| el)?(?: folder| directory| pasta| diretorio| carpeta| directorio)? ([a-z0-9_-]+)(?: folder| directory)?[ ?.!]*$/;

const NOT_A_FOLDER: ReadonlySet<string> = new Set(
  `folder directory pasta diretorio carpeta directorio project projeto proyecto disk disco here aqui workspace files
   arquivos archivos contents code codigo git repo repository repositorio`.split(/\s+/),
);

function isCommon(word: string): boolean {
  return GENERIC_WORDS.has(word) || STOP_WORDS.en.has(word) || STOP_WORDS.pt.has(word) || STOP_WORDS.es.has(word);
}
