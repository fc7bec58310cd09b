import { LEXICON } from "./classifier.ts";
import type { Token } from "./tokens.ts";
import { isGenericWord } from "./words.ts";

/** Words that a reason begins with. */
const OCCASIONS =
  /^(before|after|because|cause|since|while|antes|depois|porque|enquanto|despues|mientras|pois|pues|ya|ja|as|so|cuz)$/;
/** Words that a reason begins with in the middle of a sentence, where the others may mean something else. */
const MIDDLE = /^(because|cause|porque|pois|cuz)$/;
/** Words that an aim begins with: "is there memory left to start another one". */
const AIMS = /^(to|para|pra)$/;

/** Kinds of orders that a reason does not hold: with them, the sentence asks for something else. */
const ORDERS: ReadonlySet<string> = new Set([
  "advice",
  "delete",
  "doubt",
  "elsewhere",
  "fix",
  "join",
  "kill",
  "meaning",
  "media",
  "pack",
  "protect",
  "send",
  "ship",
  "trade",
  "undo",
  "write",
]);
/** What people tell that they do themselves is no order. */
const OWN_DEEDS: ReadonlySet<string> = new Set(["delete", "fix", "kill", "pack", "send", "ship", "undo", "join"]);
const SELF =
  /^(i|im|ive|we|weve|were|my|our|me|eu|vou|estou|to|tou|quero|preciso|acabei|meu|minha|nosso|nossa|gente|temos|vamos|yo|voy|quiero|necesito|tengo|estoy|mi|nuestro|nuestra|hemos|he|acabo|users|clientes|chefe|boss|jefe|it|the|o|a|os|as|el|la|los|las)$/;
/** A condition is no reason: "if I deleted build, how much would be free". */
const CONDITIONS = /^(if|unless|suppose|se|si|caso)$/;
const QUESTIONS =
  /^(que|what|which|who|whose|how|when|where|is|are|do|does|can|could|qual|quais|quem|quanto|quanta|quantos|quantas|onde|quando|cual|cuales|quien|cuanto|cuanta|cuantos|cuantas|donde|cuando)$/;

/** Whether words only tell why something is asked: they name nothing, order nothing and ask nothing. */
function isReason(tokens: readonly Token[]): boolean {
  if (tokens.some(({ kind }) => kind !== undefined && kind !== "number" && kind !== "quote")) return false;
  const [first] = tokens;
  if (QUESTIONS.test(first?.plain ?? "") || CONDITIONS.test(first?.plain ?? "")) return false;
  const isSelf = OCCASIONS.test(first?.plain ?? "") || tokens.slice(0, 3).some(({ plain }) => SELF.test(plain));
  const orders = tokens.flatMap(({ plain, kind }) => (kind === undefined ? LEXICON.foreignMeanings(plain) : []));
  return orders.every((meaning) => !ORDERS.has(meaning) || (isSelf && OWN_DEEDS.has(meaning)));
}

/** The clauses of a sentence between its commas, full stops and dashes. */
function segmentsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const segments: Token[][] = [[]];
  for (const token of tokens) {
    segments.at(-1)?.push(token);
    if (token.endsClause) segments.push([]);
  }
  return segments.filter((segment) => segment.length > 0);
}

/** What a sentence asks without the reasons around it; each is one clause or more of it. */
export function requestsIn(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const segments = segmentsOf(tokens);
  const asked = segments.filter((segment) => !isReason(segment));
  const found = [
    // What is told and asked to be confirmed.
    ...(segments.length > 1 && isTag(segments.at(-1) ?? []) ? [segments.slice(0, -1).flat()] : []),
    // All but the reasons, when there are some.
    ...(asked.length > 0 && asked.length < segments.length ? [asked.flat()] : []),
    // The last clause, behind reasons.
    ...(segments.length > 1 && segments.slice(0, -1).every((each) => isReason(each) && each.length >= HEAD_WORDS)
      ? [segments.at(-1) ?? []]
      : []),
    // The first clause, before reasons that say so.
    ...(segments.length > 1 && segments.slice(1).every((each) => isReason(each) && isTold(each))
      ? [segments[0] ?? []]
      : []),
  ];
  const heads = [...headOf(tokens, MIDDLE), ...headOf(tokens, AIMS).filter(asksForRoom), ...headBeforeUse(tokens)];
  return [...found, ...askedBehind(tokens), ...heads].filter(hasTopic);
}

const KNOWING = /^(know|tell|see|check|confirm|saber|dizer|ver|conferir|confirmar|decir|averiguar|comprobar)$/;

/** The question behind what people want: "as we move tomorrow I need to know how large data/ is". */
function askedBehind(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const at = tokens.findIndex(({ plain }) => KNOWING.test(plain));
  const isAsked =
    /^(o|the|el|la|a|if|whether|se|si)$/.test(tokens[at + 1]?.plain ?? "") ||
    QUESTIONS.test(tokens[at + 1]?.plain ?? "");
  return at > 0 && isAsked && isReason(tokens.slice(0, at)) ? [tokens.slice(at + 1)] : [];
}

const USES = /^(for|para|pra)$/;
const ARTICLES = /^(a|an|the|my|our|um|uma|o|meu|minha|un|una|el|la|mi|nuestro|nuestra)$/;

/** What is asked before the use that it is for: "the exact node version for a bug report"; a size or a limit depends on it. */
function headBeforeUse(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const [head] = headOf(tokens, USES);
  const isUse = head !== undefined && ARTICLES.test(tokens[head.length + 1]?.plain ?? "");
  const isLimit = tokens.some(
    ({ plain, kind }) => kind === "number" || /^(enough|suficiente|suficientes|bastante)$/.test(plain),
  );
  return isUse && !isLimit ? [head] : [];
}

/** Whether words ask about something of their own: "what is it" does not. */
function hasTopic(tokens: readonly Token[]): boolean {
  return tokens.some(
    ({ plain, kind }) => kind === undefined && !isGenericWord(plain) && LEXICON.meanings(plain).length > 0,
  );
}

const TAG = /^(true|right|correct|really|verdade|procede|certo|confere|verdad|cierto|correcto|no)$/;

/** Whether words only ask whether what was told is so: "is that true?". */
function isTag(tokens: readonly Token[]): boolean {
  return (
    tokens.some(({ plain }) => TAG.test(plain)) && tokens.every(({ plain }) => TAG.test(plain) || isGenericWord(plain))
  );
}

/** Whether a clause begins as one that people tell of themselves, or with a word such as "because". */
function isTold([first]: readonly Token[]): boolean {
  return OCCASIONS.test(first?.plain ?? "") || PERSONS.test(first?.plain ?? "");
}

const PERSONS = /^(i|im|ive|we|eu|vou|preciso|quero|voy|necesito|quiero|tengo|estou|estoy)$/;

/** Whether words ask what is left, for which the aim makes no difference; a size of its own would. */
function asksForRoom(tokens: readonly Token[]): boolean {
  const isFree = tokens.some(({ plain }) => LEXICON.meanings(plain).includes("free"));
  return isFree && tokens.every(({ kind }) => kind === undefined);
}

const STATES =
  /^(is|are|was|seems|looks|feels|keeps|keep|went|got|gets|getting|has|have|complains?|complaining|esta|estao|estan|ta|tao|parece|parecem|parecen|anda|vai|va|sigue|segue|continua|ficou|fica|foi|reclama|reclamando|quejan?|quejando|seems|says|hates|wants|needs)$/;

/** The sentence without statements that stand before its question: "the disk is filling up, what takes the space?". */
export function withoutStatements(tokens: readonly Token[]): readonly Token[] {
  const segments = segmentsOf(tokens);
  const last = segments.at(-1) ?? [];
  const isStatement = (segment: readonly Token[]) =>
    segment.length > 2 && isReason(segment) && segment.slice(1).some(({ plain }) => STATES.test(plain));
  const isQuestion =
    last.length > 2 &&
    hasTopic(last) &&
    (QUESTIONS.test(last[0]?.plain ?? "") || /^(o|por)$/.test(last[0]?.plain ?? ""));
  return isQuestion && segments.length > 1 && segments.slice(0, -1).every(isStatement) ? last : tokens;
}

/** Least words of a request before its reason. */
const HEAD_WORDS = 3;

function headOf(tokens: readonly Token[], joint: RegExp): readonly (readonly Token[])[] {
  const at = tokens.findLastIndex(({ plain }) => joint.test(plain));
  return at >= HEAD_WORDS && isReason(tokens.slice(at + 1)) ? [tokens.slice(0, at)] : [];
}
