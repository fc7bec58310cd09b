import { LEXICON, meaningsOfIntent, wordsOfIntent } from "./classifier.ts";
import { strangeWords, takesAnyName } from "./slots.ts";
import type { Token } from "./tokens.ts";
import { isChange } from "./want.ts";
import type { Intent, Want } from "./want.ts";
import { isGenericWord } from "./words.ts";

/** Above this probability an intent bears one unknown word more. */
const CERTAIN = 0.9;
/**
 * How probable an intent has to be where so many words mean nothing that its phrases mean. Of 222 new questions that left
 * 6.3 of 100 wrong instead of 9.5, and 73.0 right instead of 74.8.
 */
const UNEXPLAINED = [0, 0.7, 0.85, 0.9, 0.96];
/** How much a word counts among them; a word of every day counts half of another. */
const COUNTED = 2;

/** Meanings of what people ask about: an intent whose phrases never speak of one is not meant where a sentence does. */
const TOPICS: ReadonlySet<string> = new Set(
  `disk memory swap cpu core port kernel dns gateway log file folder commit branch remote stash tag language depend test env
   version service cron container gpu inode user network`.split(/\s+/),
);

/** What the file of a project tells; it is the only file that these can be asked of. */
const OF_MANIFEST: ReadonlySet<Intent> = new Set(["dependencies", "start"]);

/** Whether the sentence says what the wants do not: an operand, an order, a name, or too many unknown words. */
export function isElsewhere(tokens: readonly Token[], wants: readonly Want[], probability: number): boolean {
  const kind = wants[0]?.kind;
  if (kind === undefined || isNegated(tokens, kind)) return true;
  const isRead = readerOf(wants);
  const isUnread = (token: Token) => isOperand(token) && !isRead(token);
  if (!OF_MANIFEST.has(kind) && tokens.some((token) => isUnread(token) && !isCommonFile(token))) return true;
  const isFree = (token: Token) => takesAnyName(kind) && isRead(token);
  if (tokens.some((token) => isForeign(token, kind) && !isFree(token) && !isIdle(tokens, token))) return true;
  const strange = strangeWords(tokens, kind).filter((token) => !isRead(token) && !isIdle(tokens, token));
  if (isUnspoken(tokens, strange, kind)) return true;
  const unknown = strange.filter(({ plain }) => LEXICON.isNameLike(LEXICON.correct(plain)));
  // A name in capitals that nothing reads is another subject: "what time is it in Tokyo?".
  const isProper = ({ plain, written }: Token) =>
    /^\p{Lu}\p{Ll}/u.test(written) && LEXICON.meanings(plain).length === 0;
  if (strange.some((token) => token !== tokens[0] && isProper(token))) return true;
  if (unknown.some((token) => isPlaced(tokens, token)) || isOfOther(tokens)) return true;
  const own = meaningsOfIntent(kind);
  const alien = strange.filter(
    ({ plain }) => !LEXICON.meanings(LEXICON.correct(plain)).some((meaning) => own.has(meaning)),
  );
  if (alien.some(({ plain }) => LEXICON.meanings(LEXICON.correct(plain)).some((meaning) => TOPICS.has(meaning))))
    return true;
  const weight = alien.reduce((sum, { plain }) => sum + (LEXICON.isOrdinary(plain) ? 1 : COUNTED), 0);
  if (probability < (UNEXPLAINED[Math.min(weight, UNEXPLAINED.length - 1)] ?? 0)) return true;
  return unknown.length > (probability >= CERTAIN ? 2 : 1);
}

/** Tells whether a token is among what wants have read. */
function readerOf(wants: readonly Want[]): (token: Token) => boolean {
  const read = wants.flatMap((want) =>
    Object.values(want).flatMap((value) => (typeof value === "string" ? value : [])),
  );
  return ({ kind, written }) =>
    read.some((value) => value.includes(written) || (isTrimmed(kind) && written.includes(value)));
}

function isOperand({ kind }: Token): boolean {
  return kind !== undefined && kind !== "number";
}

/** Whether a sentence has an operand or a name that the wants do not read. */
export function leavesName(tokens: readonly Token[], wants: readonly Want[]): boolean {
  const isRead = readerOf(wants);
  const isName = ({ plain, kind }: Token) => kind === undefined && LEXICON.isNameLike(LEXICON.correct(plain));
  return tokens.some((token) => (isOperand(token) || isName(token)) && !isRead(token) && !isCommonFile(token));
}

const NEGATIONS: ReadonlySet<string> = new Set("not dont never no nao nunca jamas".split(" "));
/** Meanings of what people order the model to do. */
const ORDERS: ReadonlySet<string> = new Set(["show", "list", "read", "find", "search"]);

/** Whether a sentence asks for something not to be done: "don't restart nginx". */
function isNegated(tokens: readonly Token[], kind: Intent): boolean {
  // In Portuguese `no` is a preposition.
  const isNegation = ({ plain, written }: Token, at: number) =>
    NEGATIONS.has(plain) && (plain !== "no" || at === 0) && written !== "";
  const [first, second] = tokens;
  if (first === undefined) return false;
  if (isChange(kind)) return tokens.some(isNegation);
  return isNegation(first, 0) && LEXICON.meanings(second?.plain ?? "").some((meaning) => ORDERS.has(meaning));
}

const PLACE_WORDS: ReadonlySet<string> = new Set(
  "on at in of from for about with em no na do da de en del para pra sobre com con".split(" "),
);
const PLACE_NOUNS: ReadonlySet<string> = new Set(["machine", "container"]);

/** Whether an unknown word names another place: "the load on web-2", "no servidor alfa". */
function isPlaced(tokens: readonly Token[], token: Token): boolean {
  const at = tokens.indexOf(token);
  const before = tokens[at - 1]?.plain ?? "";
  return PLACE_WORDS.has(before) || LEXICON.meanings(before).some((meaning) => PLACE_NOUNS.has(meaning));
}

const MACHINES = /^(server|host|machine|box|servidor|maquina|computador|equipo|ordenador|computadora)$/;
const SYSTEMS =
  /^(linux|ubuntu|debian|fedora|windows|mac|physical|virtual|fisica|fisico|entire|remote|remota|remoto|inteira|inteiro|toda|entera)$/;

/** Whether a sentence names another machine by what it is for: "the backup server", "o servidor de backup". */
function isOfOther(tokens: readonly Token[]): boolean {
  const isFor = (token: Token | undefined) =>
    token?.kind === undefined && token !== undefined && !isGenericWord(token.plain) && !SYSTEMS.test(token.plain);
  return tokens.some(({ plain }, at) => {
    if (!MACHINES.test(plain)) return false;
    const isEnglish = /^(server|host|machine|box)$/.test(plain);
    if (isEnglish) return /^(the|a|our|my|on|of)$/.test(tokens[at - 2]?.plain ?? "") && isFor(tokens[at - 1]);
    return /^(de|do|da|del)$/.test(tokens[at + 1]?.plain ?? "") && isFor(tokens[at + 2]);
  });
}

/** Intents that may be asked for with common words alone: "what is this", "where am I". */
const PLAINLY: ReadonlySet<Intent> = new Set([
  "folder",
  "help",
  "hostname",
  "list",
  "load",
  "logged-in",
  "os",
  "project",
  "read",
  "start",
  "whoami",
]);

/** Meanings of words that ask, and that tell what is asked for: "where did I leave notes.txt". */
const ASKING: ReadonlySet<string> = new Set(["where", "who", "when", "howmany"]);

/** Whether no word speaks for an intent, only the kind of an operand or letters of a word: "encrypt notes.txt" reads nothing. */
function isUnspoken(tokens: readonly Token[], strange: readonly Token[], kind: Intent): boolean {
  const isAsking = ({ plain }: Token) => LEXICON.meanings(plain).some((meaning) => ASKING.has(meaning));
  const topics = tokens.filter((token) => token.kind === undefined && (isAsking(token) || !isGenericWord(token.plain)));
  const own = meaningsOfIntent(kind);
  const isOwn = ({ plain }: Token) => LEXICON.meanings(LEXICON.correct(plain)).some((meaning) => own.has(meaning));
  // "Again" and "what is 2 plus 2" speak for nothing; "who am I" and "where is it full" do, without a topic of their own.
  if (topics.length === 0) return !tokens.some(isOperand) && !PLAINLY.has(kind);
  return topics.every((token) => (strange.includes(token) || isAsking(token)) && !isOwn(token));
}

/** Whether a word orders nothing where it stands: names that end, "termina em .json", and "remind me what this is called". */
function isIdle(tokens: readonly Token[], { plain, written }: Token): boolean {
  const at = tokens.findIndex((token) => token.written === written);
  const next = tokens[at + 1]?.plain === "me" ? tokens[at + 2]?.plain : tokens[at + 1]?.plain;
  // A storage on the network, and "in the" of Portuguese.
  if (plain === "nas") return !/^(the|my|a|o|um|meu|do|no|el|un|mi|del)$/.test(tokens[at - 1]?.plain ?? "");
  if (plain.startsWith("termin")) return /^(em|en|com|con|por)$/.test(next ?? "");
  return (
    /^(remind|lembra|lembre|recuerda|recuerdame)$/.test(plain) &&
    /^(what|which|how|who|where|the|o|a|os|as|qual|quais|como|que|cual|el|la|los|las)$/.test(next ?? "")
  );
}

/** Whether an operand is read without what is around it: `$PATH` as PATH, `localhost:8080` as localhost. */
function isTrimmed(kind: Token["kind"]): boolean {
  return kind === "variable" || kind === "host";
}

/** Whether a word asks for more than phrases of the intent do. */
function isForeign({ kind, plain }: Token, intent: Intent): boolean {
  const meanings = kind === undefined ? LEXICON.foreignMeanings(plain) : [];
  if (meanings.length === 0 || wordsOfIntent(intent).has(plain)) return false;
  const own = [...wordsOfIntent(intent)].filter((word) =>
    LEXICON.foreignMeanings(word).some((meaning) => meanings.includes(meaning)),
  );
  return own.length < OWN_WORDS;
}

/** An intent whose phrases have so many words of a foreign meaning may be asked for with any of them. */
const OWN_WORDS = 5;

/** A file that is known by a name without an ending is read under that name. */
function isCommonFile({ kind, written }: Token): boolean {
  return kind === "file" && !/[./]/.test(written);
}
