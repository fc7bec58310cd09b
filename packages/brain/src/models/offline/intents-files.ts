import {
  FILE_KINDS,
  FILE_NOUNS,
  FIND_VERBS,
  FOLDER_NOUNS,
  LIST_VERBS,
  NAME_WORDS,
  READ_VERBS,
  SEARCH_VERBS,
  SIZE_COMPANIONS,
  SIZE_WORDS,
  TEXT_WORDS,
} from "./file-words.ts";
import { bareFolder, has, strangers } from "./sentence.ts";
import type { Sentence } from "./sentence.ts";
import { hasCommonExtension, looksLikeFile, looksLikeGlob } from "./text.ts";
import type { Operand } from "./text.ts";
import type { Want } from "./want.ts";

type Rule = (sentence: Sentence) => Want | undefined;

/** What a sentence wants of files and folders, if it is about them; the first rule that fits decides. */
export function wantOfFiles(sentence: Sentence): Want | undefined {
  for (const rule of RULES) {
    const want = rule(sentence);
    if (want !== undefined) return want;
  }
  return undefined;
}

const RULES: readonly Rule[] = [largest, searchText, findFiles, readPath, listFolder];

function largest(sentence: Sentence): Want | undefined {
  const isAboutSize =
    has(sentence, SIZE_WORDS) || /\b(most (disk )?space|mais espaco|mas espacio)\b/.test(sentence.plain);
  if (!isAboutSize || !(has(sentence, FILE_NOUNS) || has(sentence, FOLDER_NOUNS))) return undefined;
  const folder = folderOf(sentence);
  if (
    strangers(sentence, [SIZE_WORDS, FILE_NOUNS, FOLDER_NOUNS, SIZE_COMPANIONS, LIST_VERBS, FIND_VERBS], folder.word) >
    0
  ) {
    return undefined;
  }
  return { kind: "largest", path: folder.path ?? "." };
}

function searchText(sentence: Sentence): Want | undefined {
  const quoted = sentence.operands.find((operand) => operand.quoted);
  const aboutText = has(sentence, TEXT_WORDS);
  if (!aboutText && !has(sentence, FIND_VERBS)) return undefined;
  const folder = folderOf(sentence);
  const known = [FIND_VERBS, TEXT_WORDS, FILE_NOUNS, FOLDER_NOUNS, LIST_VERBS];
  if (quoted !== undefined) {
    // "search for "JSON.parse"" means a text, "find "server.ts"" a file.
    const isFile = has(sentence, SEARCH_VERBS) ? hasCommonExtension(quoted.text) : looksLikeFile(quoted.text);
    const isName = looksLikeGlob(quoted.text) || isFile || has(sentence, NAME_WORDS);
    if (!aboutText && (isName || has(sentence, FILE_NOUNS))) return undefined;
    return strangers(sentence, known, folder.word) > 0 ? undefined : search(quoted.text, folder.path);
  }
  const bare = bareText(sentence);
  if (bare === undefined || strangers(sentence, known, folder.word, bare.plain) > 0) return undefined;
  return search(bare.original, folder.path);
}

function search(text: string, path: string | undefined): Want {
  return path === undefined ? { kind: "search", text } : { kind: "search", text, path };
}

// Only a verb that cannot mean anything but a search lets an unquoted word be the text: "find a restaurant" is none.
const BARE_TEXT =
  /\b(?:search(?: (?:the )?(?:code|files|project))?(?: for)?|grep(?: for)?|look for|procur[ea]r?(?: por| pelo texto| a palavra| o texto)?|bus(?:que|ca|car)(?: por| el texto| la palabra| o texto| a palavra)?|(?:containing|contain|contem|contendo|contienen|contengan) (?:the |o |la |el |a )?(?:text |word |texto |palavra |palabra )?) ?([a-z0-9_-]+)/;

function bareText(sentence: Sentence): { plain: string; original: string } | undefined {
  const plain = BARE_TEXT.exec(sentence.plain)?.[1];
  if (plain === undefined || plain.startsWith("§")) return undefined;
  const known = [FIND_VERBS, TEXT_WORDS, FILE_NOUNS, FOLDER_NOUNS, NAME_WORDS, SIZE_WORDS];
  const original = sentence.spelling(plain);
  // A marker in capitals may be a stop word in Spanish; in a search it is the text.
  const isText = strangers({ words: [plain] }, known) === 1 || /^[A-Z_]{2,}$/.test(original);
  return isText ? { plain, original } : undefined;
}

function findFiles(sentence: Sentence): Want | undefined {
  const named = sentence.words.findIndex((word) => NAME_WORDS.has(word));
  const aboutFiles = has(sentence, FILE_NOUNS);
  const target = nameOf(sentence, named);
  if (target === undefined) return undefined;
  const isListed = aboutFiles && (named >= 0 || looksLikeGlob(target.pattern));
  if (!has(sentence, FIND_VERBS) && !isListed) return undefined;
  const folder = folderOf(sentence, target.source);
  const known = [FIND_VERBS, NAME_WORDS, FILE_NOUNS, FOLDER_NOUNS, LIST_VERBS, READ_VERBS, KIND_WORDS];
  if (strangers(sentence, known, folder.word, target.word) > 0) return undefined;
  return folder.path === undefined
    ? { kind: "find", pattern: target.pattern }
    : { kind: "find", pattern: target.pattern, path: folder.path };
}

// ".ts" is an ending and README the beginning of a name; what is quoted is meant as it is.
function patternOf({ text, quoted }: Operand): string {
  if (/^\.[a-z0-9]{1,4}$/i.test(text)) return `*${text}`;
  return quoted || text.includes(".") || text.includes("/") || looksLikeGlob(text) ? text : `${text}*`;
}

const KIND_WORDS: ReadonlySet<string> = new Set(FILE_KINDS.keys());

/** A pattern of names, and the operand or the word that it comes from. */
interface Name {
  readonly pattern: string;
  readonly source?: string;
  readonly word?: string;
}

function nameOf(sentence: Sentence, named: number): Name | undefined {
  const operand =
    sentence.operands.find((each) => each.quoted || looksLikeGlob(each.text)) ??
    sentence.operands.find((each) => looksLikeFile(each.text));
  if (operand !== undefined)
    return {
      pattern: patternOf(operand),
      source: operand.text,
    };
  if (!has(sentence, FILE_NOUNS)) return undefined;
  const kind = sentence.words.map((word) => FILE_KINDS.get(word)).find((pattern) => pattern !== undefined);
  if (kind !== undefined) return { pattern: kind };
  const word = sentence.words.slice(named + 1).find((each) => !NAME_WORDS.has(each));
  if (named < 0 || word === undefined || strangers({ words: [word] }, [FOLDER_NOUNS]) === 0) return undefined;
  return { pattern: `*${sentence.spelling(word)}*`, word };
}

function readPath(sentence: Sentence): Want | undefined {
  const target = sentence.operands[0];
  if (target === undefined || sentence.operands.length > 1 || !has(sentence, READ_VERBS)) return undefined;
  if (!looksLikeFile(target.text) && !has(sentence, FILE_NOUNS)) return undefined;
  if (strangers(sentence, [READ_VERBS, FILE_NOUNS, CONTENT_WORDS]) > 0) return undefined;
  return { kind: "read", path: target.text };
}

const CONTENT_WORDS: ReadonlySet<string> = new Set([
  "content",
  "contents",
  "conteudo",
  "contenido",
  "inside",
  "dentro",
]);

function listFolder(sentence: Sentence): Want | undefined {
  const folder = folderOf(sentence);
  const asks = has(sentence, LIST_VERBS) || has(sentence, READ_VERBS) || has(sentence, CONTENT_WORDS);
  const aboutFolder = has(sentence, FILE_NOUNS) || has(sentence, FOLDER_NOUNS) || sentence.operands.length === 1;
  const isQuestionOfPlace =
    /\b(which|what|qual|que|current|atual|actual|working) (folder|directory|pasta|diretorio|carpeta|directorio)\b/;
  const isPlace = isQuestionOfPlace.test(sentence.plain) && !has(sentence, FILE_NOUNS) && !has(sentence, CONTENT_WORDS);
  const isBare = sentence.words[0] === "ls" && sentence.words.length <= 2;
  if (!isBare && (!asks || !aboutFolder || isPlace)) return undefined;
  if (strangers(sentence, [LIST_VERBS, READ_VERBS, FILE_NOUNS, FOLDER_NOUNS, EXISTENCE], folder.word) > 0)
    return undefined;
  const only = sentence.operands.length <= 1 && !has(sentence, ASKS_NO_LIST);
  const path = folder.path ?? ".";
  return only ? { kind: looksLikeFile(path) ? "read" : "list", path } : undefined;
}

const EXISTENCE: ReadonlySet<string> = new Set(["there", "exist", "existem", "existen", "tem", "ha", "hay", "ls"]);

// "how many files", "what files did I change": a listing is no answer to these.
const ASKS_NO_LIST: ReadonlySet<string> = new Set([
  "who",
  "why",
  "when",
  "how",
  "quem",
  "quando",
  "como",
  "quien",
  "cuando",
  "does",
  "do",
]);

function folderOf(sentence: Sentence, except?: string): { path?: string; word?: string } {
  const operand = sentence.operands.find((each) => !each.quoted && each.text !== except && !looksLikeGlob(each.text));
  const quoted = sentence.operands.find((each) => each.quoted && each.text.includes("/") && each.text !== except);
  const written = operand ?? quoted;
  if (written !== undefined) return { path: written.text };
  const word = bareFolder(sentence);
  return word === undefined ? {} : { path: sentence.spelling(word), word };
}
