import type { QuestionAsked } from "../event.ts";

/** Words for yes and no in English, Portuguese and Spanish, without accents. */
const YES: ReadonlySet<string> = new Set(
  "y yes yeah yep ok okay sure approve approved allow s sim pode aprovo aprovado permitir si claro dale apruebo aprobado".split(
    " ",
  ),
);
const NO: ReadonlySet<string> = new Set(
  "n no nope nay never deny denied reject rejected nao nunca nego negado recuso rechazo rechazado".split(" "),
);
/** A no followed by its reason. */
const NO_BECAUSE = /^(?:no|nope|nao)(?:\s*[,.:;!\u2013\u2014-]+\s*|\s+(?=because\b|since\b|porque\b|pois\b))\S/;
const MARKS = /[\p{M}]/gu;
/** A run of marks at the end is looked at from its first one only. */
const EDGES = /^[\s"'`.,!¡()*_]+|(?<![\s"'`.,!()*_])[\s"'`.,!()*_]+$/g;

/** The answer of a client that has no person to ask: it approves nothing, and is no person's no. */
export const UNASKED_ANSWER = "no: no person could be asked";

/** The answer that approves a plan, and the same plan again in the same run. */
export const RUN_WIDE_YES = "yes for this run";

/** The answer that approves what a person made of a plan; the change is in the event, or in the words behind a colon. */
export const CHANGED_YES = "yes, changed";

/** The answer that approves a plan and adds the narrowest rule that allows it to the policy of its hand. */
export const ALWAYS_YES = "yes, always";

/** What people write for it, in English, Portuguese and Spanish, without accents and commas. */
const ALWAYS = /^(?:(?:yes|y|sim|si|s) )?(?:always|sempre|siempre)$/;

/** What people write for a changed plan, in English, Portuguese and Spanish, with what is to run instead. */
const CHANGED =
  /^\s*(?:yes|y|sim|s[i\u00ed]?|si\u0301)\s*(?:,\s*)?(?:changed|change to|mudado|mude para|cambiado|cambia a)\s*:\s*(\S[^]*)$/iu;

/** What people write for a yes for this run, in English, Portuguese and Spanish, without accents and commas. */
const RUN_WIDE = /^(?:yes|y|sim|si) (?:for|in|para|em|en|nesta) ?(?:this|the|esta|a|la)? ?(?:run|execucao|ejecucion)$/;

/** Whether an answer approves an effect: a plan, or a proposed tool. */
export function isApproval({ about, options }: Pick<QuestionAsked, "about" | "options">, answer: string): boolean {
  if (about.kind !== "approval" && about.kind !== "tool") return false;
  return answer === options[0] || [RUN_WIDE_YES, CHANGED_YES, ALWAYS_YES].includes(answer);
}

/** Whether an answer asks that a plan be allowed always, also where no rule can be added for it. */
export function asksForAlways(words: string): boolean {
  return ALWAYS.test(plainWords(words).replaceAll(",", ""));
}

/** Words without accents, capitals and marks around them. */
function plainWords(words: string): string {
  return words.normalize("NFD").replaceAll(MARKS, "").toLowerCase().replaceAll(EDGES, "");
}

/** What is to run instead, from the words of an answer; undefined when they change nothing. */
export function changeIn(words: string): string | undefined {
  return CHANGED.exec(words)?.[1]?.trimEnd();
}

/**
 * The recorded answer for a text: one of the options, or a no with its reason. Undefined when the text is neither, so
 * that the person is asked again. A question without options accepts any text.
 */
export function readAnswer(
  { about, options }: Pick<QuestionAsked, "about" | "options">,
  words: string,
): string | undefined {
  if (about.kind === "ask" || about.kind === "call") return words;
  if (options.includes(CHANGED_YES) && changeIn(words) !== undefined) return CHANGED_YES;
  const said = plainWords(words);
  const [on, off] = options;
  const option = options.find((each) => each.toLowerCase() === said);
  if (option !== undefined) return option;
  const bare = said.replaceAll(",", "");
  if (options.includes(RUN_WIDE_YES) && RUN_WIDE.test(bare)) return RUN_WIDE_YES;
  if (options.includes(ALWAYS_YES) && ALWAYS.test(bare)) return ALWAYS_YES;
  if (YES.has(said)) return on;
  if (NO.has(said)) return off;
  return NO_BECAUSE.test(said) ? words.trim() : undefined;
}
